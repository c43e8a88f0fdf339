// shaders.ts - the GLSL of the page: blocks, their shadows, ground, sky, particles, outline.
//
// Colours are lit in linear light and mapped to the screen at the end of each fragment shader, so that no pass over the
// whole screen is needed. All world positions are metres relative to the core's origin.
import { ShaderStore } from '@babylonjs/core/Engines/shaderStore';
import { kSunDirection } from './sun';


const kCommon = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DShadow;
const vec3 kSun = vec3(${kSunDirection.map((x) => x.toFixed(6)).join(', ')});
const vec3 kSunLight = vec3(3.05, 2.62, 2.02);

float hash21(vec2 p) {
    vec3 q = fract(vec3(p.xyx) * vec3(0.1031, 0.1030, 0.0973));
    q += dot(q, q.yzx + 33.33);
    return fract((q.x + q.y) * q.z);
}
float hash31(vec3 p) {
    p = fract(p * vec3(0.1031, 0.1099, 0.0973));
    p += dot(p, p.yzx + 33.33);
    return fract((p.x + p.y) * p.z);
}
// The sky without the disc of the sun: also what distant things fade into.
vec3 skyColor(vec3 d) {
    float h = max(d.y, 0.0);
    vec3 c = mix(vec3(0.74, 0.92, 1.16), vec3(0.36, 0.62, 1.02), smoothstep(0.0, 0.18, h));
    c = mix(c, vec3(0.12, 0.30, 0.70), smoothstep(0.12, 0.90, h));
    float s = max(dot(d, kSun), 0.0);
    c += vec3(1.0, 0.72, 0.42) * (0.22 * pow(s, 5.0) + 0.35 * pow(s, 48.0));
    return c;
}
vec3 toScreen(vec3 c, vec2 pixel) {
    c = mix(vec3(dot(c, vec3(0.2126, 0.7152, 0.0722))), c, 0.86) * 0.62;
    c = (c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14);
    c = pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
    return c + (hash21(pixel) - 0.5) / 200.0;
}
vec3 turn(vec4 q, vec3 v) {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}
`;

const kShadow = /* glsl */ `
uniform sampler2DShadow shadowNear;
uniform sampler2DShadow shadowFar;
uniform mat4 lightNear;
uniform mat4 lightFar;
uniform vec4 shadowInfo;  // metres a texel covers (near, far), share of the map a texel is (near, far)
uniform float shadowCascades;

float tap(sampler2DShadow map, vec3 p, float texel) {
#ifdef SOFT
    float sum = textureLod(map, p + vec3(-0.5, -1.2, 0.0) * texel, 0.0);
    sum += textureLod(map, p + vec3(1.2, -0.5, 0.0) * texel, 0.0);
    sum += textureLod(map, p + vec3(0.5, 1.2, 0.0) * texel, 0.0);
    sum += textureLod(map, p + vec3(-1.2, 0.5, 0.0) * texel, 0.0);
    return sum * 0.25;
#else
    return textureLod(map, p, 0.0);
#endif
}
float inside(vec3 p) {
    vec3 e = abs(p - 0.5) * 2.0;
    return 1.0 - smoothstep(0.9, 0.99, max(max(e.x, e.y), e.z));
}
// 0 in shadow .. 1 in the sun. Points are moved off the surface rather than biased in depth.
float sunlight(vec3 world, vec3 normal) {
    float slope = 1.0 - max(dot(normal, kSun), 0.0);
    vec3 f = (lightFar * vec4(world + normal * (0.6 + 1.6 * slope) * shadowInfo.y, 1.0)).xyz * 0.5 + 0.5;
    float inFar = inside(f);
    float lit = inFar > 0.0 ? mix(1.0, tap(shadowFar, f, shadowInfo.w), inFar) : 1.0;
    if (shadowCascades > 1.5) {
        vec3 n = (lightNear * vec4(world + normal * (0.6 + 1.6 * slope) * shadowInfo.x, 1.0)).xyz * 0.5 + 0.5;
        float inNear = inside(n);
        if (inNear > 0.0) lit = mix(lit, tap(shadowNear, n, shadowInfo.z), inNear);
    }
    return lit;
}
`;

const kFog = /* glsl */ `
uniform vec3 cameraPosition;
uniform float fogDensity;
vec3 addFog(vec3 color, vec3 world) {
    vec3 toPoint = world - cameraPosition;
    float d = length(toPoint) * fogDensity;
    float f = exp(-d * d);
    vec3 dir = normalize(toPoint);
    return mix(skyColor(vec3(dir.x, max(dir.y, 0.02), dir.z)), color, f);
}
`;

const kPiecePose = /* glsl */ `
attribute vec3 position;
attribute float slot;
uniform sampler2D poses;
vec4 poseA, poseB;
void readPose() {
    int s = int(slot + 0.5);
    ivec2 at = ivec2((s & 255) * 2, s >> 8);
    poseA = texelFetch(poses, at, 0);
    poseB = texelFetch(poses, at + ivec2(1, 0), 0);
}
`;

ShaderStore.ShadersStore['blocksVertexShader'] = /* glsl */ `
${kCommon}
${kPiecePose}
attribute vec4 faceNormal;
attribute vec4 tint;
uniform mat4 viewProjection;
varying vec3 vLocal;
varying vec3 vLocalNormal;
varying vec3 vWorld;
varying vec4 vTint;
varying vec4 vTurn;
void main(void) {
    readPose();
    vLocal = position;
    vLocalNormal = faceNormal.xyz;
    vTint = tint;
    vTurn = poseB;
    vWorld = turn(poseB, position) + poseA.xyz;
    gl_Position = viewProjection * vec4(vWorld, 1.0);
    if (poseA.w < 0.5) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;

ShaderStore.ShadersStore['blocksFragmentShader'] = /* glsl */ `
${kCommon}
${kShadow}
${kFog}
varying vec3 vLocal;
varying vec3 vLocalNormal;
varying vec3 vWorld;
varying vec4 vTint;
varying vec4 vTurn;
void main(void) {
    vec3 n = normalize(vLocalNormal);
    vec3 base = pow(vTint.rgb, vec3(2.2));
    float ao = vTint.a;

    // Which block of the piece this is, and how far the nearest border of its face is along each axis of the face.
    vec3 cell = floor(vLocal - n * 0.02);
    vec3 inCell = vLocal - cell;
    vec3 across = step(abs(n), vec3(0.5));            // 1 for the two axes of the face
    vec3 width = max(fwidth(vLocal), vec3(1e-4));
    float spread = max(max(width.x * across.x, width.y * across.y), width.z * across.z);
    float near = 1.0 - smoothstep(0.06, 0.45, spread);  // fine detail fades before it flickers

    // A bevel: near a border the normal leans outwards, and the seam itself is a little darker.
    vec3 d = inCell - 0.5;
    vec3 lean = sign(d) * smoothstep(vec3(0.40), vec3(0.5), abs(d)) * across;
    vec3 bent = normalize(n + lean * 0.55 * near);
    vec3 edge = (0.5 - abs(d)) + (1.0 - across);
    float border = min(min(edge.x, edge.y), edge.z);
    float line = max(0.022, spread * 0.75);
    float seam = (1.0 - smoothstep(line * 0.4, line * 1.6, border)) * mix(0.13, 0.42, near) * (1.0 - smoothstep(0.35, 1.1, spread));

    // No two blocks are quite alike, and close by a face shows grain.
    float block = hash31(cell + 17.0);
    base *= 1.0 + (block - 0.5) * 0.17 * (1.0 - smoothstep(0.8, 2.5, spread));
    vec3 grainAt = floor(inCell * 8.0 - n * 0.1);
    float grain = hash31(grainAt + cell * 8.0 + 3.0);
    float grainNear = 1.0 - smoothstep(0.03, 0.11, spread);
    base *= 1.0 + (grain - 0.5) * 0.13 * grainNear;
    base *= 1.0 - seam;

    vec3 wn = turn(vTurn, bent);
    vec3 flatNormal = turn(vTurn, n);
    float facing = max(dot(wn, kSun), 0.0) * smoothstep(-0.02, 0.12, dot(flatNormal, kSun));
    float lit = facing > 0.0 ? sunlight(vWorld, flatNormal) : 0.0;
    float open = ao * ao * 0.55 + ao * 0.45;
    float up = wn.y * 0.5 + 0.5;
    vec3 ambient = mix(vec3(0.30, 0.26, 0.22), vec3(0.52, 0.66, 0.90), up) * (0.95 + 0.10 * wn.x - 0.08 * wn.z);
    vec3 light = kSunLight * facing * lit * (0.55 + 0.45 * ao) + ambient * open * 0.92;
    vec3 color = base * light;

    // A soft gleam where the sun glances off.
    vec3 view = normalize(cameraPosition - vWorld);
    float gleam = pow(max(dot(wn, normalize(view + kSun)), 0.0), 24.0) * 0.05 * lit;
    color += kSunLight * gleam;
    color = addFog(color, vWorld);
    gl_FragColor = vec4(toScreen(color, gl_FragCoord.xy), 1.0);
}
`;

ShaderStore.ShadersStore['blockDepthVertexShader'] = /* glsl */ `
${kCommon}
${kPiecePose}
uniform mat4 lightMatrix;
void main(void) {
    readPose();
    gl_Position = lightMatrix * vec4(turn(poseB, position) + poseA.xyz, 1.0);
    gl_Position.z = max(gl_Position.z, -0.999);
    if (poseA.w < 0.5) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;

ShaderStore.ShadersStore['blockDepthFragmentShader'] = /* glsl */ `
precision highp float;
void main(void) {
    gl_FragColor = vec4(1.0);
}
`;

ShaderStore.ShadersStore['groundVertexShader'] = /* glsl */ `
${kCommon}
attribute vec3 position;
uniform mat4 viewProjection;
uniform vec3 groundCenter;
varying vec3 vWorld;
void main(void) {
    vWorld = position + groundCenter;
    gl_Position = viewProjection * vec4(vWorld, 1.0);
}
`;

ShaderStore.ShadersStore['groundFragmentShader'] = /* glsl */ `
${kCommon}
${kShadow}
${kFog}
varying vec3 vWorld;
float lines(vec2 p, float every, float wide) {
    vec2 q = p / every;
    vec2 w = fwidth(q);
    vec2 d = abs(fract(q - 0.5) - 0.5);
    vec2 l = (1.0 - smoothstep(wide + vec2(0.0), wide + w * 1.5, d)) * (1.0 - smoothstep(0.15, 0.6, w));
    return max(l.x, l.y);
}
void main(void) {
    vec2 p = vWorld.xz;
    float spread = max(fwidth(p.x), fwidth(p.y));
    vec3 base = vec3(0.135, 0.190, 0.070);
    float patches = hash21(floor(p) + 7.0) - 0.5;
    float fields = hash21(floor(p / 8.0) + 3.0) - 0.5;
    base *= 1.0 + patches * 0.16 * (1.0 - smoothstep(0.3, 1.2, spread)) + fields * 0.10 * (1.0 - smoothstep(3.0, 9.0, spread));
    base = mix(base, base * vec3(1.25, 1.05, 0.8), hash21(floor(p / 4.0) + 11.0) * 0.35 * (1.0 - smoothstep(1.5, 5.0, spread)));
    float grain = hash21(floor(p * 8.0)) - 0.5;
    base *= 1.0 + grain * 0.16 * (1.0 - smoothstep(0.04, 0.14, spread));
    base *= 1.0 - 0.16 * lines(p, 1.0, 0.012) - 0.10 * lines(p, 8.0, 0.004);
    vec3 n = vec3(0.0, 1.0, 0.0);
    float lit = sunlight(vWorld, n);
    vec3 color = base * (kSunLight * kSun.y * lit + vec3(0.50, 0.62, 0.84) * 0.85);
    color = addFog(color, vWorld);
    gl_FragColor = vec4(toScreen(color, gl_FragCoord.xy), 1.0);
}
`;

ShaderStore.ShadersStore['skyVertexShader'] = /* glsl */ `
${kCommon}
attribute vec3 position;
uniform mat4 clipToWorld;
uniform vec3 cameraPosition;
varying vec3 vDirection;
void main(void) {
    vec4 p = clipToWorld * vec4(position.xy, 1.0, 1.0);
    vDirection = p.xyz / p.w - cameraPosition;
    gl_Position = vec4(position.xy, 1.0, 1.0);
}
`;

ShaderStore.ShadersStore['skyFragmentShader'] = /* glsl */ `
${kCommon}
varying vec3 vDirection;
float noise(vec2 p) {
    vec2 i = floor(p);
    vec2 f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(hash21(i), hash21(i + vec2(1, 0)), f.x), mix(hash21(i + vec2(0, 1)), hash21(i + vec2(1, 1)), f.x), f.y);
}
void main(void) {
    vec3 d = normalize(vDirection);
    vec3 c = skyColor(d);
    float s = max(dot(d, kSun), 0.0);
    c += vec3(1.0, 0.9, 0.7) * 9.0 * smoothstep(0.9993, 0.9997, s);
#ifdef SOFT
    if (d.y > 0.01) {
        // Thin high clouds.
        vec2 p = d.xz / (d.y + 0.12) * 1.6;
        float n = noise(p) * 0.5 + noise(p * 2.1 + 5.0) * 0.27 + noise(p * 4.3 + 9.0) * 0.15 + noise(p * 9.1) * 0.08;
        float cloud = smoothstep(0.50, 0.82, n) * smoothstep(0.01, 0.22, d.y);
        c = mix(c, vec3(1.06, 1.03, 1.0) + vec3(0.5, 0.4, 0.25) * pow(s, 6.0), cloud * 0.62);
    }
#endif
    gl_FragColor = vec4(toScreen(c, gl_FragCoord.xy), 1.0);
}
`;

// A particle's whole life is known at its birth: the shader needs only the time.
ShaderStore.ShadersStore['particlesVertexShader'] = /* glsl */ `
${kCommon}
attribute vec4 position;  // place of birth, time of birth
attribute vec4 motion;    // velocity, gravity
attribute vec4 form;      // corner 0..3, life, size at birth, growth per second
attribute vec4 tint;      // colour, kind: 0 dust, 1/3 chip, 2/3 flash, 1 smoke ring
uniform mat4 viewProjection;
uniform mat4 view;
uniform float time;
uniform float floorHeight;
varying vec2 vCorner;
varying vec4 vTint;
varying float vAge;
varying vec3 vWorld;
void main(void) {
    float t = time - position.w;
    float age = t / form.y;
    float kind = tint.a * 3.0;
    vec2 corner = vec2(mod(form.x, 2.0), floor(form.x * 0.5)) * 2.0 - 1.0;
    float drag = kind < 0.5 || kind > 2.5 ? 2.2 : 0.25;
    float reach = (1.0 - exp(-drag * t)) / drag;
    vec3 at = position.xyz + motion.xyz * reach;
    at.y -= motion.w * t * t * 0.5;
    if (kind > 0.5 && kind < 1.5) at.y = max(at.y, floorHeight + form.z * 0.6);
    float size = form.z + form.w * reach;
    if (age < 0.0 || age >= 1.0) size = 0.0;
    if (kind > 0.5 && kind < 1.5) {
        float spin = t * (4.0 + motion.x) + position.x * 7.0;
        if (at.y <= floorHeight + form.z * 0.61) spin = position.z;
        corner = mat2(cos(spin), -sin(spin), sin(spin), cos(spin)) * corner;
        size *= 1.0 - smoothstep(0.8, 1.0, age);
    }
    vec3 right = vec3(view[0][0], view[1][0], view[2][0]);
    vec3 up = vec3(view[0][1], view[1][1], view[2][1]);
    vWorld = at + (right * corner.x + up * corner.y) * size;
    vCorner = corner;
    vAge = age;
    vTint = tint;
    gl_Position = viewProjection * vec4(vWorld, 1.0);
}
`;

ShaderStore.ShadersStore['particlesFragmentShader'] = /* glsl */ `
${kCommon}
${kFog}
varying vec2 vCorner;
varying vec4 vTint;
varying float vAge;
varying vec3 vWorld;
void main(void) {
    float kind = vTint.a * 3.0;
    float r = length(vCorner);
    vec3 base = pow(vTint.rgb, vec3(2.2));
    vec3 color;
    float alpha;
    if (kind < 0.5 || kind > 2.5) {
        // A puff, lit from the sun's side as if it were a ball.
        float body = 1.0 - smoothstep(0.15, 1.0, r);
        float shade = 0.72 + 0.28 * dot(vCorner, vec2(0.35, 0.8));
        color = base * shade * (kSunLight * 0.55 + vec3(0.52, 0.62, 0.8) * 0.55);
        alpha = body * pow(1.0 - vAge, 1.3) * smoothstep(0.0, 0.04, vAge) * 0.80;
    } else if (kind < 1.5) {
        color = base * (kSunLight * 0.6 + vec3(0.4, 0.48, 0.6));
        alpha = step(max(abs(vCorner.x), abs(vCorner.y)), 1.0);
    } else {
        float body = exp(-r * r * 4.0) * (1.0 - smoothstep(0.8, 1.0, r));
        color = vec3(6.0, 3.4, 1.3) * (1.0 - vAge) + vec3(0.6, 0.16, 0.03);
        alpha = body * (1.0 - vAge);
    }
    if (alpha < 0.004) discard;
    color = addFog(color, vWorld);
    gl_FragColor = vec4(toScreen(color, gl_FragCoord.xy), alpha);
}
`;

ShaderStore.ShadersStore['outlineVertexShader'] = /* glsl */ `
precision highp float;
attribute vec3 position;
uniform mat4 viewProjection;
uniform vec3 cellCorner;
uniform vec3 place;
uniform vec4 spin;
void main(void) {
    vec3 p = cellCorner + 0.5 + (position - 0.5) * 1.012;
    p = p + 2.0 * cross(spin.xyz, cross(spin.xyz, p) + spin.w * p);
    gl_Position = viewProjection * vec4(p + place, 1.0);
    gl_Position.z -= 0.0004 * gl_Position.w;
}
`;

ShaderStore.ShadersStore['outlineFragmentShader'] = /* glsl */ `
precision highp float;
uniform vec4 outlineColor;
void main(void) {
    gl_FragColor = outlineColor;
}
`;
