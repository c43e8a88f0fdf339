// renderer.ts - draws the world: Babylon.js engine, scene and camera around the shaders of shaders.ts.
//
// A frame is a handful of draws however many pieces there are: one for each batch of the mesh pool, the same once or
// twice more for shadows (only when something moved), ground, sky, particles, outline.
import { FreeCamera } from '@babylonjs/core/Cameras/freeCamera';
import { Engine } from '@babylonjs/core/Engines/engine';
import { Constants } from '@babylonjs/core/Engines/constants';
import { ShaderMaterial } from '@babylonjs/core/Materials/shaderMaterial';
import { RawTexture } from '@babylonjs/core/Materials/Textures/rawTexture';
import { RenderTargetTexture } from '@babylonjs/core/Materials/Textures/renderTargetTexture';
import { Matrix, Vector3, Vector4 } from '@babylonjs/core/Maths/math.vector';
import { Color4 } from '@babylonjs/core/Maths/math.color';
import { Buffer, VertexBuffer } from '@babylonjs/core/Buffers/buffer';
import type { DataBuffer } from '@babylonjs/core/Buffers/dataBuffer';
import { Mesh } from '@babylonjs/core/Meshes/mesh';
import { Scene } from '@babylonjs/core/scene';
import { Viewport } from '@babylonjs/core/Maths/math.viewport';
import './shaders';
import type { Batch, MeshPool } from './mesh_pool';
import { kVertexBytes } from './mesh_pool';
import { ParticleRing, kParticleBytes, kParticleFloats, type Particle } from './particles';
import { kTexelsPerRow, type PoseTable } from './pose_table';
import type { Quality } from './quality';
import { lightView } from './sun';
import type { Bounds } from './world_view';
import { lookDirection, type Quat, type Vec3 } from './vector';

const kFieldOfView = 1.1;
const kFarPlane = 3000;

export interface View {
  eye: Vec3;
  yaw: number;
  pitch: number;
}

export interface Outline {
  cell: Vec3;
  place: Vec3;
  spin: Quat;
  color: [number, number, number, number];
}

export interface RenderCounts {
  drawCalls: number;       // of the last frame
  batches: number;
  poseUploads: number;     // since the start
  bytesUploaded: number;   // of meshes, since the start
  shadowRenders: number;   // since the start
}

/** GPU side of one batch. */
interface GpuBatch {
  batch: Batch;
  generation: number;
  mesh: Mesh;
  buffer: Buffer;
}

/** What of Babylon's engine is needed to write part of an index buffer: its own call always replaces the whole. */
interface IndexUploads {
  _gl: WebGL2RenderingContext;
  bindIndexBuffer(buffer: DataBuffer | null): void;
}

export class Renderer {
  readonly engine: Engine;
  readonly scene: Scene;
  readonly camera: FreeCamera;
  readonly gpuName: string;
  readonly counts: RenderCounts = { drawCalls: 0, batches: 0, poseUploads: 0, bytesUploaded: 0, shadowRenders: 0 };
  private quality!: Quality;
  private gpuBatches: GpuBatch[] = [];
  private poseTexture!: RawTexture;
  private poseRows = 0;
  private blocks!: ShaderMaterial;
  private groundMaterial!: ShaderMaterial;
  private skyMaterial!: ShaderMaterial;
  private particleMaterial!: ShaderMaterial;
  private outlineMaterial!: ShaderMaterial;
  private depthMaterials: ShaderMaterial[] = [];
  private shadowMaps: RenderTargetTexture[] = [];
  private ground!: Mesh;
  private outlineMesh!: Mesh;
  private particleMesh!: Mesh;
  private particleBuffer!: Buffer;
  private particles!: ParticleRing;
  private materials: ShaderMaterial[] = [];
  private meshes: Mesh[] = [];
  private shadowKey = '';
  private bounds: { center: Vec3; radius: number } = { center: [0, 0, 0], radius: 30 };
  private floor: number | null = 0;

  constructor(readonly canvas: HTMLCanvasElement, antialias: boolean) {
    this.engine = new Engine(canvas, antialias, {
      preserveDrawingBuffer: false,
      stencil: false,
      powerPreference: 'high-performance',
      audioEngine: false,
      doNotHandleContextLost: false,
    });
    if (this.engine.version < 2) throw new Error('this page needs WebGL 2');
    // A graphics driver may drop everything at any time; all of it is still in the pool and the tables.
    this.engine.onContextRestoredObservable.add(() => {
      this.poseRows = 0;
      this.setQuality(this.quality);
    });
    this.gpuName = this.engine.getGlInfo().renderer;
    this.scene = new Scene(this.engine);
    this.scene.useRightHandedSystem = true;
    this.scene.skipPointerMovePicking = true;
    this.scene.detachControl();
    this.scene.clearColor = new Color4(0.7, 0.8, 0.9, 1);
    this.scene.setRenderingAutoClearDepthStencil(1, false);
    this.scene.setRenderingAutoClearDepthStencil(2, false);
    this.camera = new FreeCamera('camera', new Vector3(0, 10, 30), this.scene);
    this.camera.minZ = 0.08;
    this.camera.maxZ = kFarPlane;
    this.camera.fov = kFieldOfView;
  }

  /** Builds everything that depends on the quality; called again when it changes. */
  setQuality(quality: Quality): void {
    this.dispose();
    this.quality = quality;
    this.engine.setHardwareScalingLevel(1 / Math.min(window.devicePixelRatio || 1, quality.maxPixelRatio));
    const defines = quality.soft ? ['#define SOFT'] : [];
    const shadowUniforms = ['lightNear', 'lightFar', 'shadowInfo', 'shadowCascades'];
    const shadowSamplers = ['shadowNear', 'shadowFar'];
    const fogUniforms = ['cameraPosition', 'fogDensity'];

    this.makeShadowMaps();
    this.blocks = this.material('blocks', ['position', 'faceNormal', 'tint', 'slot'],
      ['viewProjection', ...fogUniforms, ...shadowUniforms], ['poses', ...shadowSamplers], defines);
    this.blocks.backFaceCulling = true;
    this.blocks.sideOrientation = Constants.MATERIAL_CounterClockWiseSideOrientation;
    this.groundMaterial = this.material('ground', ['position'],
      ['viewProjection', 'groundCenter', ...fogUniforms, ...shadowUniforms], shadowSamplers, defines);
    this.skyMaterial = this.material('sky', ['position'], ['clipToWorld', 'cameraPosition'], [], defines);
    this.skyMaterial.disableDepthWrite = true;
    this.particleMaterial = this.material('particles', ['position', 'motion', 'form', 'tint'],
      ['viewProjection', 'view', 'time', 'floorHeight', ...fogUniforms], [], defines, true);
    this.particleMaterial.disableDepthWrite = true;
    this.outlineMaterial = this.material('outline', ['position'],
      ['viewProjection', 'cellCorner', 'place', 'spin', 'outlineColor'], [], [], true);
    this.outlineMaterial.disableDepthWrite = true;
    this.outlineMaterial.fillMode = Constants.MATERIAL_LineListDrawMode;
    for (const material of [this.blocks, this.groundMaterial]) this.bindShadows(material);

    this.makeGround();
    this.makeSky();
    this.makeOutline();
    this.makeParticles();
  }

  private material(name: string, attributes: string[], uniforms: string[], samplers: string[], defines: string[], blended = false): ShaderMaterial {
    const material = new ShaderMaterial(name, this.scene, name, { attributes, uniforms, samplers, defines, needAlphaBlending: blended });
    material.backFaceCulling = false;
    this.materials.push(material);
    return material;
  }

  private bindShadows(material: ShaderMaterial): void {
    material.onBindObservable.add(() => {
      const effect = material.getEffect();
      effect.setDepthStencilTexture('shadowNear', this.shadowMaps[0]!);
      effect.setDepthStencilTexture('shadowFar', this.shadowMaps[this.shadowMaps.length - 1]!);
    });
  }

  private makeShadowMaps(): void {
    const { shadowSize, cascades } = this.quality;
    for (let i = 0; i < cascades; i++) {
      const map = new RenderTargetTexture(`shadow${i}`, shadowSize, this.scene, {
        generateMipMaps: false,
        generateDepthBuffer: true,
        samplingMode: Constants.TEXTURE_NEAREST_SAMPLINGMODE,
        format: Constants.TEXTUREFORMAT_RED,
        type: Constants.TEXTURETYPE_UNSIGNED_BYTE,
      });
      map.createDepthStencilTexture(Constants.LESS, true, false, 1, Constants.TEXTUREFORMAT_DEPTH32_FLOAT);
      map.renderParticles = false;
      map.ignoreCameraViewport = true;
      map.clearColor = new Color4(0, 0, 0, 1);
      map.renderList = [];
      map.refreshRate = RenderTargetTexture.REFRESHRATE_RENDER_ONCE;
      const depth = this.material('blockDepth', ['position', 'slot'], ['lightMatrix'], ['poses'], []);
      this.depthMaterials.push(depth);
      this.shadowMaps.push(map);
      this.scene.customRenderTargets.push(map);
      map.onAfterRenderObservable.add(() => this.counts.shadowRenders++);
    }
  }

  private staticMesh(name: string, material: ShaderMaterial, positions: number[], indices: number[], group: number): Mesh {
    const mesh = new Mesh(name, this.scene);
    mesh.setVerticesData(VertexBuffer.PositionKind, positions);
    mesh.setIndices(indices);
    mesh.material = material;
    mesh.alwaysSelectAsActiveMesh = true;
    mesh.isPickable = false;
    mesh.renderingGroupId = group;
    mesh.doNotSyncBoundingInfo = true;
    this.meshes.push(mesh);
    return mesh;
  }

  private makeGround(): void {
    // Rings that widen outwards: near the eye small triangles keep the interpolated position exact.
    const positions: number[] = [];
    const indices: number[] = [];
    const reaches = [-kFarPlane, -400, -60, 60, 400, kFarPlane];
    for (const z of reaches) for (const x of reaches) positions.push(x, 0, z);
    const n = reaches.length;
    for (let z = 0; z + 1 < n; z++) {
      for (let x = 0; x + 1 < n; x++) {
        const a = z * n + x;
        indices.push(a, a + n, a + 1, a + 1, a + n, a + n + 1);
      }
    }
    this.ground = this.staticMesh('ground', this.groundMaterial, positions, indices, 1);
  }

  private makeSky(): void {
    this.staticMesh('sky', this.skyMaterial, [-1, -1, 0, 3, -1, 0, -1, 3, 0], [0, 1, 2], 1);
  }

  private makeOutline(): void {
    const positions: number[] = [];
    for (let i = 0; i < 8; i++) positions.push(i & 1, (i >> 1) & 1, i >> 2);
    const lines = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];
    this.outlineMesh = this.staticMesh('outline', this.outlineMaterial, positions, lines, 2);
    this.outlineMesh.setEnabled(false);
  }

  private makeParticles(): void {
    const ring = new ParticleRing(this.quality.particles);
    this.particles = ring;
    const mesh = new Mesh('particles', this.scene);
    const buffer = new Buffer(this.engine, new Float32Array(ring.vertices), true, kParticleFloats);
    const attribute = (kind: string, offset: number, size: number, bytes = false): VertexBuffer =>
      new VertexBuffer(this.engine, buffer, kind, true, false, kParticleBytes, false, offset, size,
        bytes ? VertexBuffer.UNSIGNED_BYTE : VertexBuffer.FLOAT, bytes, true);
    mesh.setVerticesBuffer(attribute('position', 0, 4));
    mesh.setVerticesBuffer(attribute('motion', 16, 4));
    mesh.setVerticesBuffer(attribute('form', 32, 4));
    mesh.setVerticesBuffer(attribute('tint', 48, 4, true));
    const indices = new Uint32Array(ring.capacity * 6);
    for (let i = 0; i < ring.capacity; i++) indices.set([4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 2, 4 * i + 1, 4 * i + 3], 6 * i);
    mesh.setIndices(indices, ring.capacity * 4);
    mesh.material = this.particleMaterial;
    mesh.alwaysSelectAsActiveMesh = true;
    mesh.isPickable = false;
    mesh.doNotSyncBoundingInfo = true;
    mesh.renderingGroupId = 2;
    mesh.setEnabled(false);
    this.particleMesh = mesh;
    this.particleBuffer = buffer;
    this.meshes.push(mesh);
  }

  addParticles(made: Particle[], nowSeconds: number): void {
    for (const particle of made) this.particles.add(particle, nowSeconds);
  }

  get particleShare(): number {
    return this.quality.particleShare;
  }

  /** What shadows and fog have to reach. */
  setBounds({ low, high }: Bounds, floor: number | null): void {
    const center: Vec3 = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2];
    const radius = Math.max(8, Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / 2);
    // In steps, so that shadows do not change their grain with every piece that rolls.
    this.bounds = { center, radius: 1.25 ** Math.ceil(Math.log(radius) / Math.log(1.25)) };
    this.floor = floor;
  }

  setOutline(outline: Outline | null): void {
    this.outlineMesh.setEnabled(outline !== null);
    if (!outline) return;
    this.outlineMaterial.setVector3('cellCorner', Vector3.FromArray(outline.cell));
    this.outlineMaterial.setVector3('place', Vector3.FromArray(outline.place));
    this.outlineMaterial.setVector4('spin', Vector4.FromArray(outline.spin));
    this.outlineMaterial.setVector4('outlineColor', Vector4.FromArray(outline.color));
  }

  /** Draws one frame. */
  render(view: View, pool: MeshPool, poses: PoseTable, nowSeconds: number): void {
    this.placeCamera(view);
    const posesMoved = this.syncPoses(poses);
    this.syncBatches(pool);
    this.syncParticles(nowSeconds);
    this.syncLight(view, posesMoved, pool.version);
    this.syncUniforms(view, nowSeconds);
    const before = this.drawCallCount();
    this.scene.render();
    this.counts.drawCalls = this.drawCallCount() - before;
    this.counts.batches = this.gpuBatches.length;
  }

  private drawCalls = 0;
  private drawCallsHooked = false;
  private drawCallCount(): number {
    if (!this.drawCallsHooked) {
      this.drawCallsHooked = true;
      const report = this.engine._reportDrawCall.bind(this.engine);
      this.engine._reportDrawCall = (count = 1) => {
        this.drawCalls += count;
        report(count);
      };
    }
    return this.drawCalls;
  }

  private placeCamera(view: View): void {
    this.camera.position.copyFromFloats(...view.eye);
    const d = lookDirection(view.yaw, view.pitch);
    this.camera.setTarget(new Vector3(view.eye[0] + d[0], view.eye[1] + d[1], view.eye[2] + d[2]));
  }

  private syncPoses(poses: PoseTable): boolean {
    const moved = poses.dirty;
    if (!this.poseTexture || this.poseRows !== poses.rows) {
      this.poseTexture?.dispose();
      this.poseTexture = RawTexture.CreateRGBATexture(poses.data, kTexelsPerRow, poses.rows, this.scene, false, false,
        Constants.TEXTURE_NEAREST_SAMPLINGMODE, Constants.TEXTURETYPE_FLOAT);
      this.poseRows = poses.rows;
      this.counts.poseUploads++;
    } else if (moved) {
      this.poseTexture.update(poses.data);
      this.counts.poseUploads++;
    }
    poses.dirty = false;
    for (const material of [this.blocks, ...this.depthMaterials]) material.setTexture('poses', this.poseTexture);
    return moved;
  }

  private syncBatches(pool: MeshPool): void {
    pool.batches.forEach((batch, i) => {
      let gpu = this.gpuBatches[i];
      if (!gpu || gpu.generation !== batch.generation) {
        gpu?.mesh.dispose(false, false);
        gpu?.buffer.dispose();
        gpu = this.makeGpuBatch(batch, i);
        this.gpuBatches[i] = gpu;
        batch.takeDirtyVertices();
        batch.takeDirtyIndices();
        this.counts.bytesUploaded += batch.vertices.byteLength + batch.indices.byteLength;
      } else {
        this.uploadDirty(gpu);
      }
      const count = batch.indexRanges.end;
      const sub = gpu.mesh.subMeshes[0]!;
      sub.indexCount = count;
      sub.verticesCount = batch.vertexRanges.end;
      gpu.mesh.setEnabled(batch.pieces > 0);
    });
    for (const map of this.shadowMaps) {
      const meshes = this.gpuBatches.map((gpu) => gpu.mesh);
      if (map.renderList!.length !== meshes.length || map.renderList!.some((mesh, i) => mesh !== meshes[i])) {
        map.renderList = meshes;
        map.setMaterialForRendering(meshes, this.depthMaterials[this.shadowMaps.indexOf(map)]!);
      }
    }
  }

  private makeGpuBatch(batch: Batch, index: number): GpuBatch {
    const mesh = new Mesh(`batch${index}`, this.scene);
    const buffer = new Buffer(this.engine, new Uint8Array(batch.vertices) as unknown as Float32Array, true, kVertexBytes / 4);
    const attribute = (kind: string, offset: number, size: number, type: number, normalized: boolean): VertexBuffer =>
      new VertexBuffer(this.engine, buffer, kind, true, false, kVertexBytes, false, offset, size, type, normalized, true);
    mesh.doNotSyncBoundingInfo = true;
    mesh.setVerticesBuffer(attribute('position', 0, 3, VertexBuffer.FLOAT, false), true, batch.vertexRanges.capacity);
    mesh.setVerticesBuffer(attribute('faceNormal', 12, 4, VertexBuffer.BYTE, true));
    mesh.setVerticesBuffer(attribute('tint', 16, 4, VertexBuffer.UNSIGNED_BYTE, true));
    mesh.setVerticesBuffer(attribute('slot', 20, 1, VertexBuffer.FLOAT, false));
    mesh.setIndices(batch.indices, batch.vertexRanges.capacity, true);
    mesh.material = this.blocks;
    mesh.alwaysSelectAsActiveMesh = true;
    mesh.isPickable = false;
    return { batch, generation: batch.generation, mesh, buffer };
  }

  private uploadDirty(gpu: GpuBatch): void {
    const { batch } = gpu;
    const vertexBuffer = gpu.buffer.getBuffer()!;
    for (const range of batch.takeDirtyVertices()) {
      const bytes = new Uint8Array(batch.vertices, range.start * kVertexBytes, (range.end - range.start) * kVertexBytes);
      this.engine.updateDynamicVertexBuffer(vertexBuffer, bytes, range.start * kVertexBytes, bytes.byteLength);
      this.counts.bytesUploaded += bytes.byteLength;
    }
    const ranges = batch.takeDirtyIndices();
    if (ranges.length === 0) return;
    const uploads = this.engine as unknown as IndexUploads;
    uploads.bindIndexBuffer(gpu.mesh.geometry!.getIndexBuffer());
    for (const range of ranges) {
      uploads._gl.bufferSubData(uploads._gl.ELEMENT_ARRAY_BUFFER, range.start * 4, batch.indices, range.start, range.end - range.start);
      this.counts.bytesUploaded += (range.end - range.start) * 4;
    }
    uploads.bindIndexBuffer(null);
  }

  private syncParticles(nowSeconds: number): void {
    this.particleMesh.setEnabled(nowSeconds < this.particles.until);
    const bytes = kParticleBytes * 4;
    for (const range of this.particles.takePending()) {
      const view = new Uint8Array(this.particles.vertices, range.start * bytes, (range.end - range.start) * bytes);
      this.engine.updateDynamicVertexBuffer(this.particleBuffer.getBuffer()!, view, range.start * bytes, view.byteLength);
    }
  }

  private syncLight(view: View, posesMoved: boolean, meshVersion: number): void {
    const { shadowSize, cascades } = this.quality;
    const d = lookDirection(view.yaw, view.pitch);
    const ahead = (metres: number): Vec3 => [view.eye[0] + d[0] * metres, view.eye[1] + d[1] * metres, view.eye[2] + d[2] * metres];
    const far = Math.min(260, this.bounds.radius * 1.05 + 4);
    const farCenter = far < 260 ? this.bounds.center : ahead(200);
    const near = Math.min(26, far * 0.5);
    const depth = Math.max(300, far * 2);
    const nearView = lightView(ahead(near * 0.75), near, shadowSize, depth);
    const farView = lightView(farCenter, far, shadowSize, depth);
    for (const material of [this.blocks, this.groundMaterial]) {
      material.setMatrix('lightNear', Matrix.FromArray(nearView.matrix));
      material.setMatrix('lightFar', Matrix.FromArray(farView.matrix));
      material.setVector4('shadowInfo', new Vector4(nearView.texel, farView.texel, 1 / shadowSize, 1 / shadowSize));
      material.setFloat('shadowCascades', cascades);
    }
    const views = cascades === 2 ? [nearView, farView] : [farView];
    views.forEach((light, i) => this.depthMaterials[i]!.setMatrix('lightMatrix', Matrix.FromArray(light.matrix)));
    // Shadows are drawn anew only when a piece or the light's view of them moved.
    const key = `${meshVersion} ${views.map((light) => light.matrix.join()).join()} ${this.gpuBatches.map((g) => g.generation).join()}`;
    if (posesMoved || key !== this.shadowKey || this.shadowWarmup > 0) {
      this.shadowKey = key;
      this.shadowWarmup = Math.max(0, this.shadowWarmup - 1);
      for (const map of this.shadowMaps) map.resetRefreshCounter();
    }
  }
  /** Shaders compile in the background: the first frames may draw no shadows. */
  private shadowWarmup = 20;

  private syncUniforms(view: View, nowSeconds: number): void {
    const eye = Vector3.FromArray(view.eye);
    const fog = 1 / Math.max(700, this.bounds.radius * 8);
    for (const material of [this.blocks, this.groundMaterial, this.particleMaterial]) {
      material.setVector3('cameraPosition', eye);
      material.setFloat('fogDensity', fog);
    }
    this.particleMaterial.setFloat('time', nowSeconds);
    this.particleMaterial.setFloat('floorHeight', this.floor ?? -1e6);
    this.ground.setEnabled(this.floor !== null);
    this.groundMaterial.setVector3('groundCenter',
      new Vector3(Math.round(view.eye[0] / 64) * 64, this.floor ?? 0, Math.round(view.eye[2] / 64) * 64));
    this.skyMaterial.setVector3('cameraPosition', eye);
    this.skyMaterial.setMatrix('clipToWorld', Matrix.Invert(this.viewProjection()));
  }

  private viewProjection(): Matrix {
    return this.camera.getViewMatrix(true).multiply(this.camera.getProjectionMatrix(true));
  }

  /** Where a world point is on the page, in CSS pixels of the canvas; null when it is behind the eye. */
  project(point: Vec3): { x: number; y: number } | null {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const p = Vector3.Project(Vector3.FromArray(point), Matrix.Identity(), this.viewProjection(), new Viewport(0, 0, width, height));
    return p.z < 0 || p.z > 1 ? null : { x: p.x, y: p.y };
  }

  /** The direction from the eye through a point of the canvas, in CSS pixels. */
  rayThrough(x: number, y: number): Vec3 {
    const ndcX = (x / this.canvas.clientWidth) * 2 - 1;
    const ndcY = 1 - (y / this.canvas.clientHeight) * 2;
    const p = Vector3.TransformCoordinates(new Vector3(ndcX, ndcY, 0.5), Matrix.Invert(this.viewProjection()));
    p.subtractInPlace(this.camera.position).normalize();
    return [p.x, p.y, p.z];
  }

  private dispose(): void {
    for (const gpu of this.gpuBatches) {
      gpu.mesh.dispose(false, false);
      gpu.buffer.dispose();
    }
    this.gpuBatches = [];
    for (const mesh of this.meshes) mesh.dispose(false, false);
    this.meshes = [];
    this.particleBuffer?.dispose();
    for (const map of this.shadowMaps) {
      this.scene.customRenderTargets.splice(this.scene.customRenderTargets.indexOf(map), 1);
      map.dispose();
    }
    this.shadowMaps = [];
    this.depthMaterials = [];
    for (const material of this.materials) material.dispose(true, false);
    this.materials = [];
    this.shadowWarmup = 20;
  }
}
