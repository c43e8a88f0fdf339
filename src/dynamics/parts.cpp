#include "dynamics/parts.h"

namespace talus {

namespace {
constexpr std::size_t kManyPairs = 512;    // that touch: worth two parts
constexpr std::size_t kLeastPairs = 1024;  // of a part where there are more than two
constexpr std::size_t kMostParts = 16;
constexpr int kBins = 64;               // along the axis
constexpr int kNotPushed = kBins;       // bin of what contacts do not move
constexpr double kReach = 1.9;          // standard deviations: what is farther off is in the last bins
constexpr std::size_t kPairWeight = 4;  // of a contact, against 1 of a body
}  // namespace

void Parts::divide(const BodyStore& bodies, const std::vector<ActivePair>& active,
                   const std::vector<std::int32_t>& place, std::vector<std::int32_t>& movers) {
    std::size_t parts = active.size() >= kManyPairs ? 2 : 1;
    while (parts < kMostParts && active.size() >= 2 * parts * kLeastPairs) parts *= 2;
    const std::size_t n = movers.size();
    first.assign(parts + 2, std::int32_t(n + 1));
    first[0] = 1;
    if (n == 0) return;

    // Where they are and how far they spread, seen from the first of them.
    bins_.resize(n);
    at_.resize(n);
    const DVec3 home = bodies.hot[std::size_t(movers[0])].position;
    DVec3 sum, squares;
    bool all_pushed = true;
    for (std::size_t k = 0; k < n; k++) {
        const BodyHot& h = bodies.hot[std::size_t(movers[k])];
        const DVec3 d = h.position - home;
        at_[k] = to_float(d);
        sum += d;
        squares += {d.x * d.x, d.y * d.y, d.z * d.z};
        bins_[k] = h.dynamic && h.inverse_mass > 0 ? 0 : kNotPushed;
        all_pushed = all_pushed && bins_[k] != kNotPushed;
    }
    if (parts == 1 && all_pushed) return;
    const DVec3 mean = sum / double(n);
    int axis = 0;
    double variance = -1;
    for (int k = 0; k < 3; k++) {
        const double v = squares[k] / double(n) - mean[k] * mean[k];
        if (v > variance) {
            variance = v;
            axis = k;
        }
    }
    const float per_metre = variance > 1e-12 ? float(kBins / (2 * kReach * std::sqrt(variance))) : 0;
    const float middle = float(mean[axis]);
    std::size_t weight[kBins + 1] = {};
    for (std::size_t k = 0; k < n; k++) {
        const float at = (at_[k][axis] - middle) * per_metre + 0.5f * kBins;
        if (bins_[k] != kNotPushed) bins_[k] = std::uint8_t(!(at > 0) ? 0 : at < kBins ? int(at) : kBins - 1);
        weight[bins_[k]]++;
    }
    if (parts > 1)
        for (const ActivePair& p : active)
            for (const std::int32_t i : {p.a, p.b}) {
                const auto k = std::size_t(place[std::size_t(i)]) - 1;
                if (k < n) weight[bins_[k]] += kPairWeight;
            }
    std::size_t total = 0, before = 0;
    for (int b = 0; b < kBins; b++) total += weight[b];
    std::size_t part_of[kBins + 1];
    for (int b = 0; b < kBins; b++) {
        part_of[b] = total > 0 ? (before + weight[b] / 2) * parts / total : 0;
        before += weight[b];
    }
    part_of[kNotPushed] = parts;

    std::vector<std::int32_t> at(parts + 2, 0);
    for (std::size_t k = 0; k < n; k++) at[part_of[bins_[k]] + 1]++;
    at[0] = 1;
    for (std::size_t p = 1; p < at.size(); p++) at[p] += at[p - 1];
    first = at;
    sorted_.resize(n);
    for (std::size_t k = 0; k < n; k++) sorted_[std::size_t(at[part_of[bins_[k]]]++) - 1] = movers[k];
    movers.swap(sorted_);
}

}  // namespace talus
