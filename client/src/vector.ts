// vector.ts - the little vector arithmetic the page needs outside shaders.

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

export function normalize(v: Vec3): Vec3 {
  const l = Math.hypot(v[0], v[1], v[2]);
  return l > 0 ? [v[0] / l, v[1] / l, v[2] / l] : [0, 0, 0];
}

export function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

export function distance(a: Vec3, b: Vec3): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/** Where a camera with this yaw (0 looks along -Z, positive turns left) and pitch (positive looks up) looks. */
export function lookDirection(yaw: number, pitch: number): Vec3 {
  return [-Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), -Math.cos(yaw) * Math.cos(pitch)];
}

export function anglesOf(direction: Vec3): { yaw: number; pitch: number } {
  const d = normalize(direction);
  return { yaw: Math.atan2(-d[0], -d[2]), pitch: Math.asin(Math.max(-1, Math.min(1, d[1]))) };
}

export function rotate(q: Quat, v: Vec3): Vec3 {
  const axis: Vec3 = [q[0], q[1], q[2]];
  const t = cross(axis, v);
  const u = cross(axis, [t[0] + q[3] * v[0], t[1] + q[3] * v[1], t[2] + q[3] * v[2]]);
  return [v[0] + 2 * u[0], v[1] + 2 * u[1], v[2] + 2 * u[2]];
}
