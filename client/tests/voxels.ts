// voxels.ts - a small block grid and mesher for tests of the page: every open face is a quad with ambient occlusion.
import type { MeshData } from '../src/core_api';

export class Voxels {
  readonly colors = new Map<string, number>();

  set(x: number, y: number, z: number, color: number): void {
    this.colors.set(`${x},${y},${z}`, color);
  }
  clear(x: number, y: number, z: number): void {
    this.colors.delete(`${x},${y},${z}`);
  }
  has(x: number, y: number, z: number): boolean {
    return this.colors.has(`${x},${y},${z}`);
  }
  box(x0: number, y0: number, z0: number, x1: number, y1: number, z1: number, color: number): void {
    for (let y = y0; y <= y1; y++) for (let z = z0; z <= z1; z++) for (let x = x0; x <= x1; x++) this.set(x, y, z, color);
  }

  mesh(): MeshData {
    const positions: number[] = [];
    const normals: number[] = [];
    const colors: number[] = [];
    const indices: number[] = [];
    for (const [key, color] of this.colors) {
      const p = key.split(',').map(Number) as [number, number, number];
      for (let axis = 0; axis < 3; axis++) {
        for (const side of [-1, 1]) {
          const n: [number, number, number] = [0, 0, 0];
          n[axis] = side;
          if (this.has(p[0] + n[0], p[1] + n[1], p[2] + n[2])) continue;
          const u = (axis + 1) % 3;
          const v = (axis + 2) % 3;
          const first = positions.length / 3;
          const open: number[] = [];
          for (let corner = 0; corner < 4; corner++) {
            const cu = corner & 1;
            const cv = corner >> 1;
            const q = [...p] as [number, number, number];
            if (side > 0) q[axis]! += 1;
            q[u]! += cu;
            q[v]! += cv;
            positions.push(...q);
            normals.push(...n);
            const at = (du: number, dv: number): number => {
              const c = [p[0] + n[0], p[1] + n[1], p[2] + n[2]] as [number, number, number];
              c[u]! += du;
              c[v]! += dv;
              return this.has(...c) ? 1 : 0;
            };
            const su = at(cu * 2 - 1, 0);
            const sv = at(0, cv * 2 - 1);
            const taken = su && sv ? 3 : su + sv + at(cu * 2 - 1, cv * 2 - 1);
            open.push(255 - taken * 60);
            colors.push(color >> 16, (color >> 8) & 255, color & 255, 255 - taken * 60);
          }
          const quad = open[0]! + open[3]! > open[1]! + open[2]! ? [0, 1, 3, 0, 3, 2] : [0, 1, 2, 1, 3, 2];
          if (side < 0) quad.reverse();
          indices.push(...quad.map((i) => first + i));
        }
      }
    }
    return {
      positions: new Float32Array(positions), normals: new Float32Array(normals),
      colors: new Uint8Array(colors), indices: new Uint32Array(indices),
    };
  }
}
