#include "mass/principal_frame.h"

namespace talus {

PrincipalFrame principal_frame(const Inertia& inertia) {
    const double* v = inertia.v;
    double a[3][3] = {{v[0], v[3], v[5]}, {v[3], v[1], v[4]}, {v[5], v[4], v[2]}};
    double q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double trace = v[0] + v[1] + v[2];
    for (int sweep = 0; sweep < 16; sweep++)
        for (int p = 0; p < 2; p++)
            for (int r = p + 1; r < 3; r++) {
                if (std::fabs(a[p][r]) <= 1e-15 * trace) continue;
                // The smaller root of t^2 + 2 theta t - 1 = 0 rotates by at most 45 degrees.
                const double theta = (a[r][r] - a[p][p]) / (2 * a[p][r]);
                const double root = std::sqrt(theta * theta + 1);
                const double t = theta >= 0 ? 1 / (theta + root) : -1 / (root - theta);
                const double c = 1 / std::sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    const double x = a[k][p], y = a[k][r];
                    a[k][p] = c * x - s * y;
                    a[k][r] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    const double x = a[p][k], y = a[r][k];
                    a[p][k] = c * x - s * y;
                    a[r][k] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    const double x = q[k][p], y = q[k][r];
                    q[k][p] = c * x - s * y;
                    q[k][r] = s * x + c * y;
                }
            }
    PrincipalFrame frame;
    for (int i = 0; i < 3; i++) {
        frame.moments[i] = float(a[i][i]);
        for (int j = 0; j < 3; j++) frame.axes.m[i][j] = float(q[i][j]);
    }
    return frame;
}

}  // namespace talus
