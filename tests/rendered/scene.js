// One table of cards, rendered with three.js. `render` takes the JSON that pictures.py describes. Lengths are
// millimeters; x points right, y down and z up from the table. Nothing here is shared with the OpenCV renderer.
import * as THREE from "three";

const CELL = 2, HALF = 1000; // of the map of heights that the cards lie on
const SHEET = 0.3; // thickness of a card or mat
const renderer = new THREE.WebGLRenderer({ antialias: false });
renderer.shadowMap.enabled = true;
renderer.shadowMap.type = THREE.BasicShadowMap;
renderer.toneMapping = THREE.NoToneMapping;
const textures = new Map(), surfaces = new Map();

// --- Textures -------------------------------------------------------------------------------------------------

async function picture(name) {
  const image = new Image();
  image.src = `/texture/${encodeURIComponent(name)}`;
  await image.decode();
  return image;
}

function textureOf(canvas, span = 0) {
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.anisotropy = 4;
  if (span) texture.wrapS = texture.wrapT = THREE.MirroredRepeatWrapping;
  return texture;
}

// A printed face; its sticker is glued on in millimeters from the card's center.
async function printed(name, size, sticker) {
  const key = JSON.stringify([name, sticker]);
  if (textures.has(key)) return textures.get(key);
  const face = await picture(name), scale = face.width / size[0];
  const canvas = new OffscreenCanvas(face.width, face.height), pen = canvas.getContext("2d");
  pen.drawImage(face, 0, 0);
  if (sticker) {
    const code = await picture(sticker.name), side = sticker.size * scale;
    pen.translate(canvas.width / 2 + sticker.x * scale, canvas.height / 2 + sticker.y * scale);
    pen.rotate(sticker.turn * Math.PI / 180);
    pen.drawImage(code, -side / 2, -side / 2, side, side * code.height / code.width);
  }
  const texture = textureOf(canvas);
  if (!sticker) textures.set(key, texture);
  return texture;
}

function noiseOf(seed) {
  const values = new Float32Array(65536);
  let state = seed * 2654435761 + 12345 >>> 0;
  for (let i = 0; i < values.length; i++) values[i] = (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32;
  const at = (x, y) => values[(Math.imul(x, 73856093) ^ Math.imul(y, 19349663)) >>> 3 & 65535];
  return (x, y) => {
    const i = Math.floor(x), j = Math.floor(y);
    let u = x - i, v = y - j;
    u *= u * (3 - 2 * u); v *= v * (3 - 2 * v);
    return (at(i, j) * (1 - u) + at(i + 1, j) * u) * (1 - v) + (at(i, j + 1) * (1 - u) + at(i + 1, j + 1) * u) * v;
  };
}

// Brightness of a table's surface at a point, 1 is its color.
const PATTERNS = {
  wood(x, y, noise) {
    const plank = Math.floor(y / 118), shade = noise(plank * 7.3, 3.1), seam = y / 118 - plank < 0.012 ? 0.45 : 1;
    const rings = Math.sin(y * 0.32 + 9 * noise(x * 0.004 + plank * 31, y * 0.03 + plank * 17));
    const fibre = noise(x * 0.03, y * 2.2) + 0.6 * noise(x * 0.12, y * 5);
    return seam * (0.72 + 0.3 * shade + 0.11 * rings + 0.16 * fibre);
  },
  weave(x, y, noise) {
    const warp = Math.sin(x * 3.4) * Math.sin(y * 3.4);
    return 0.8 + 0.13 * warp + 0.2 * noise(x * 0.7, y * 9) * noise(x * 9, y * 0.7) + 0.1 * noise(x * 0.011 + y * 0.02, y * 0.017 - x * 0.009);
  },
  plaid(x, y, noise) {
    const band = (t) => [0.55, 0.8, 0.8, 1.25, 0.8, 0.8][Math.floor((t % 75 + 75) % 75 / 12.5)];
    return band(x) * band(y) * (0.85 + 0.12 * Math.sin(x * 3.4) * Math.sin(y * 3.4) + 0.15 * noise(x * 2, y * 2));
  },
  marble(x, y, noise) {
    const bent = 60 * noise(x * 0.012, y * 0.012) + 22 * noise(x * 0.05, y * 0.05);
    return 1 - 0.35 * Math.abs(Math.sin((x + 0.6 * y + bent * 4) * 0.011)) ** 14 - 0.1 * noise(x * 0.02, y * 0.02);
  },
  felt: (x, y, noise) => 0.82 + 0.2 * noise(x * 3, y * 3) + 0.1 * noise(x * 0.8, y * 0.8),
  paint: (x, y, noise) => 0.96 + 0.04 * noise(x * 0.02, y * 0.02),
};

function surfaceOf({ kind, color, seed }) {
  const key = `${kind} ${color} ${seed}`;
  if (surfaces.has(key)) return surfaces.get(key);
  if (surfaces.size > 3) {
    for (const [texture] of surfaces.values()) texture.dispose();
    surfaces.clear();
  }
  const span = kind === "wood" || kind === "marble" ? 1400 : 300, side = 2048, noise = noiseOf(seed);
  const pixels = new ImageData(side, side), pattern = PATTERNS[kind];
  for (let j = 0, at = 0; j < side; j++) for (let i = 0; i < side; i++, at += 4) {
    const light = pattern(i / side * span, j / side * span, noise);
    for (let c = 0; c < 3; c++) pixels.data[at + c] = 255 * color[c] * light;
    pixels.data[at + 3] = 255;
  }
  const canvas = new OffscreenCanvas(side, side);
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  surfaces.set(key, [textureOf(canvas, span), span]);
  return surfaces.get(key);
}

// --- Cards and mats as bent sheets on one another -------------------------------------------------------------

class Ground {
  side = 2 * HALF / CELL;
  z = new Float32Array(this.side ** 2);
  at(x, y) {
    const i = Math.round((x + HALF) / CELL), j = Math.round((y + HALF) / CELL);
    return i >= 0 && j >= 0 && i < this.side && j < this.side ? this.z[j * this.side + i] : 0;
  }
}

// Height of a sheet over its own plane: bent across a direction, and one corner curled up.
function bentBy({ bend = 0, along = 0, curl = 0, corner = 0, size: [w, h] }) {
  const [c, s] = [Math.cos(along), Math.sin(along)], reach = Math.abs(c) * w / 2 + Math.abs(s) * h / 2;
  const [cu, cv] = [(corner & 1 ? 1 : -1) * w / 2, (corner & 2 ? 1 : -1) * h / 2], far = 0.5 * Math.min(w, h);
  return (u, v) => {
    const curled = Math.max(0, 1 - Math.hypot(u - cu, v - cv) / far);
    return bend * ((u * c + v * s) / reach) ** 2 + curl * curled ** 2;
  };
}

// Lay a sheet on the ground and return its geometry and corners; the ground is then as high as the sheet.
function laid(sheet, ground, across, down) {
  const { size: [w, h], x, y, turn, thick = SHEET } = sheet;
  const [c, s] = [Math.cos(turn * Math.PI / 180), Math.sin(turn * Math.PI / 180)];
  const own = bentBy(sheet), step = Math.min(w / across, h / down), cut = sheet.rounded ? step * 0.3 : 0;
  const points = [];
  for (let j = 0; j <= down; j++) for (let i = 0; i <= across; i++) {
    let u = (i / across - 0.5) * w, v = (j / down - 0.5) * h;
    if (i % across === 0 && j % down === 0) { u -= Math.sign(u) * cut; v -= Math.sign(v) * cut; }
    const at = [x + u * c - v * s, y + u * s + v * c];
    points.push({ u, v, at, under: ground.at(...at), own: own(u, v) });
  }
  // A sheet leans on what it lies on: the plane nearest to the ground, lifted until nothing is above it.
  const mean = (of) => points.reduce((sum, p) => sum + of(p), 0) / points.length;
  const level = mean((p) => p.under), a = mean((p) => p.u * (p.under - level)) / mean((p) => p.u ** 2);
  const b = mean((p) => p.v * (p.under - level)) / mean((p) => p.v ** 2);
  const lift = Math.max(...points.map((p) => p.under - a * p.u - b * p.v - p.own)) + thick;
  const z = (u, v) => a * u + b * v + own(u, v) + lift;
  const reach = Math.ceil(Math.hypot(w, h) / 2 / CELL) * CELL;
  for (let dy = -reach; dy <= reach; dy += CELL) for (let dx = -reach; dx <= reach; dx += CELL) {
    const u = dx * c + dy * s, v = dy * c - dx * s;
    const i = Math.round((x + dx + HALF) / CELL), j = Math.round((y + dy + HALF) / CELL);
    if (Math.abs(u) > w / 2 || Math.abs(v) > h / 2 || i < 0 || j < 0 || i >= ground.side || j >= ground.side) continue;
    ground.z[j * ground.side + i] = Math.max(ground.z[j * ground.side + i], z(u, v));
  }
  const geometry = new THREE.PlaneGeometry(w, h, across, down), { position, uv } = geometry.attributes;
  points.forEach(({ u, v, at }, n) => {
    position.setXYZ(n, at[0], -at[1], z(u, v));
    uv.setXY(n, u / w + 0.5, 0.5 - v / h);
  });
  geometry.computeVertexNormals();
  const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([p, q]) => {
    const u = p * w / 2, v = q * h / 2;
    return new THREE.Vector3(x + u * c - v * s, -(y + u * s + v * c), z(u, v));
  });
  return { geometry, corners };
}

// --- Other things ---------------------------------------------------------------------------------------------

function thing({ kind, x, y, turn, color, seed }) {
  const group = new THREE.Group(), tone = new THREE.Color().setRGB(...color, THREE.SRGBColorSpace);
  const matte = material({ color: tone, roughness: 0.65 });
  const add = (geometry, look = matte, place = () => {}) => {
    const mesh = new THREE.Mesh(geometry, look);
    place(mesh);
    group.add(mesh);
  };
  const limb = (radius, [ax, ay, az], [bx, by, bz], skin = matte) => {
    const a = new THREE.Vector3(ax, ay, az), b = new THREE.Vector3(bx, by, bz), along = b.clone().sub(a);
    add(new THREE.CapsuleGeometry(radius, along.length(), 6, 16), skin, (mesh) => {
      mesh.position.copy(a.add(b).multiplyScalar(0.5));
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
    });
  };
  if (kind === "cup") {
    const glaze = material({ color: tone, roughness: 0.15 });
    const drink = material({ color: 0x2a1608, roughness: 0.1 });
    const wall = [[0, 2], [28, 2], [34, 12], [40, 90], [37, 90], [32, 14], [0, 6]].map((p) => new THREE.Vector2(...p));
    add(new THREE.LatheGeometry(wall, 40), glaze, (mesh) => mesh.rotation.x = Math.PI / 2);
    add(new THREE.CircleGeometry(36, 40), drink, (mesh) => mesh.position.z = 70);
    add(new THREE.TorusGeometry(24, 5.5, 12, 30), glaze, (mesh) => mesh.position.set(48, 0, 46));
    for (const mesh of group.children.slice(2)) mesh.rotation.x = Math.PI / 2;
  } else if (kind === "phone") {
    const glass = material({ color: 0x050608, roughness: 0.06 });
    add(new THREE.BoxGeometry(72, 150, 8), matte, (mesh) => mesh.position.z = 4);
    add(new THREE.PlaneGeometry(68, 146), glass, (mesh) => mesh.position.z = 8.1);
  } else if (kind === "hand") {
    const noise = noiseOf(seed), sleeve = material({ roughness: 0.95 });
    sleeve.color.setHSL(noise(0.5, 0.5), 0.4, 0.15 + 0.4 * noise(3.5, 0.5));
    limb(30, [0, -70, 50], [0, -760, 130]);
    limb(46, [0, -190, 64], [0, -760, 140], sleeve);
    add(new THREE.SphereGeometry(1, 30, 20), matte, (mesh) => { mesh.scale.set(43, 52, 17); mesh.position.set(0, -10, 34); });
    [-29, -10, 10, 28].forEach((side, n) => {
      const length = [34, 46, 48, 38][n] + 6 * noise(n + 0.5, 9);
      limb(9.5, [side, 28, 32], [side * 1.2, 28 + length, 30]);
      limb(8.5, [side * 1.2, 28 + length, 30], [side * 1.25, 50 + length, 12]);
    });
    limb(11, [36, -20, 30], [66, 16, 24]);
    limb(9.5, [66, 16, 24], [66, 40, 13]);
  }
  group.position.set(x, -y, kind === "hand" ? 4 : SHEET);
  group.rotation.z = -turn * Math.PI / 180;
  return group;
}

// --- Light and camera -----------------------------------------------------------------------------------------

// What the gloss mirrors: a ceiling brighter than the walls, and a window. It replaces the look-ups in a picture of the
// surroundings, which take most of the time without a graphics card.
const AROUND = { uAmbient: { value: new THREE.Color() }, uGlow: { value: new THREE.Color() }, uWindow: { value: new THREE.Vector3(1, 0, 0) } };
const MIRRORED = `
uniform vec3 uAmbient, uGlow, uWindow;
vec3 around(vec3 view, float rough) {
  vec3 d = inverseTransformDirection(view, viewMatrix);
  float soft = 0.02 + 0.9 * rough * rough;
  vec3 light = uAmbient * mix(0.5, 1.3, smoothstep(-soft, 0.7 + soft, d.z));
  vec3 side = normalize(vec3(-uWindow.y, uWindow.x, 0.0)), w = normalize(uWindow), up = cross(w, side);
  vec2 at = vec2(dot(d, side), dot(d, up)) / max(dot(d, w), 0.01);
  vec2 pane = smoothstep(vec2(-soft), vec2(soft), vec2(0.26, 0.2) - abs(at));
  float bars = 1.0 - 0.8 * (1.0 - smoothstep(0.0, soft, abs(at.x)));
  return light + uGlow * pane.x * pane.y * bars / (1.0 + 12.0 * soft);
}
`;

function material(values) {
  const made = new THREE.MeshStandardMaterial({ ...values, side: THREE.DoubleSide });
  made.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, AROUND);
    shader.fragmentShader = shader.fragmentShader.replace("#include <lights_physical_pars_fragment>",
      `#include <lights_physical_pars_fragment>\n${MIRRORED}`).replace("#include <lights_fragment_maps>", `
      iblIrradiance += PI * around(geometryNormal, 1.0);
      radiance += around(reflect(-geometryViewDir, geometryNormal), material.roughness);`);
  };
  return made;
}

function lampOf(lamp) {
  const light = lamp.kind === "window" ? new THREE.DirectionalLight() : new THREE.SpotLight();
  const height = lamp.at[2], box = light.shadow.camera;
  light.color.setRGB(...lamp.color);
  light.intensity = lamp.light * (light.isSpotLight ? height ** 2 : 1);
  if (light.isSpotLight) Object.assign(light, { angle: lamp.angle, penumbra: 0.6, decay: 2, distance: 0 });
  else Object.assign(box, { left: -900, right: 900, top: 900, bottom: -900 });
  light.target.position.set(lamp.aim[0], -lamp.aim[1], 0);
  Object.assign(box, { near: height * 0.4, far: height * 6 });
  light.castShadow = true;
  light.shadow.mapSize.set(2048, 2048);
  light.shadow.bias = -0.0002;
  light.shadow.normalBias = 0.25;
  return light;
}

function cameraOf({ at, distance, tilt, lean, turn, fov, size }) {
  const camera = new THREE.PerspectiveCamera(fov, size[0] / size[1], 100, 6000);
  const target = new THREE.Vector3(at[0], -at[1], 0);
  camera.position.set(Math.sin(tilt) * Math.sin(lean), -Math.sin(tilt) * Math.cos(lean), Math.cos(tilt));
  camera.position.multiplyScalar(distance).add(target);
  camera.up.set(Math.sin(turn), Math.cos(turn), 0);
  camera.lookAt(target);
  return camera;
}

const base64 = (values) => new Promise((done) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.readAsDataURL(new Blob([values]));
});

function spread(n) { // the n-th of evenly spread points in a square
  return [(0.5 + n * 0.7548776662466927) % 1 - 0.5, (0.5 + n * 0.5698402909980532) % 1 - 0.5];
}

// Render a table. Returns linear light as 16-bit square roots (1 is 16384), the id at each pixel (0: table, 1: mats,
// n + 2: n-th card from 0, 2000: things), and the corners of each card in pixels.
async function render({ surface, sheets, cards, things, lamps, room, camera: view, passes }) {
  const scene = new THREE.Scene(), ground = new Ground(), ids = [], [width, height] = view.size;
  const put = (object, id) => object.traverse((mesh) => {
    if (!mesh.isMesh) return;
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.renderOrder = -id; // what lies on top hides the rest before it is shaded
    ids.push([mesh, id]);
  }) ?? scene.add(object);
  const [texture, span] = surfaceOf(surface), top = new THREE.PlaneGeometry(4000, 4000);
  for (let n = 0; n < 4; n++) top.attributes.uv.setXY(n, top.attributes.uv.getX(n) * 4000 / span, top.attributes.uv.getY(n) * 4000 / span);
  put(new THREE.Mesh(top, material({ map: texture, roughness: surface.roughness })), 0);
  for (const sheet of sheets) {
    const paper = material({ map: await printed(sheet.name, sheet.size), roughness: sheet.roughness });
    put(new THREE.Mesh(laid(sheet, ground, 36, 26).geometry, paper), 1);
  }
  const corners = [], once = [];
  for (const [n, card] of cards.entries()) {
    const map = await printed(card.name, card.size, card.sticker);
    if (card.sticker) once.push(map);
    const { geometry, corners: four } = laid(card, ground, 13, 20);
    put(new THREE.Mesh(geometry, material({ map, roughness: card.roughness })), n + 2);
    if (card.thick > 1) {
      const pile = new THREE.BoxGeometry(card.size[0], card.size[1], card.thick), z = four[0].z - card.thick / 2 - 0.1;
      const box = new THREE.Mesh(pile, material({ color: 0xd8d4cc, roughness: 0.9 }));
      box.position.set(card.x, -card.y, z);
      box.rotation.z = -card.turn * Math.PI / 180;
      put(box, n + 2);
    }
    corners.push(four);
  }
  for (const one of things) put(thing(one), 2000);
  const lights = lamps.map((lamp) => [lampOf(lamp), lamp]), { ambient, window: pane } = room;
  AROUND.uAmbient.value.setRGB(...ambient.color).multiplyScalar(ambient.light);
  AROUND.uGlow.value.setRGB(...(pane?.color ?? [0, 0, 0])).multiplyScalar(pane?.glow ?? 0);
  if (pane) AROUND.uWindow.value.set(Math.cos(pane.from), Math.sin(pane.from), pane.up);
  for (const [light] of lights) scene.add(light, light.target);

  const camera = cameraOf(view), kind = { type: THREE.FloatType, depthBuffer: true, generateMipmaps: false };
  const drawn = new THREE.WebGLRenderTarget(width, height, { ...kind, type: THREE.HalfFloatType });
  const sum = new THREE.WebGLRenderTarget(width, height, { ...kind, depthBuffer: false });
  const adding = new THREE.MeshBasicMaterial({ map: drawn.texture, blending: THREE.CustomBlending, blendSrc: THREE.OneFactor,
    blendDst: THREE.OneFactor, depthTest: false, color: new THREE.Color().setScalar(1 / passes) });
  const all = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), adding), flat = new THREE.OrthographicCamera(-1, 1, 1, -1, 0, 1);
  renderer.setRenderTarget(sum);
  renderer.clear();
  for (let n = 0; n < passes; n++) {
    lights.forEach(([light, lamp], which) => {
      const [p, q] = spread(n + 7 * which), [x, y, z] = lamp.at;
      light.position.set(x + 2 * lamp.radius * p, -y + 2 * lamp.radius * q, z);
    });
    camera.setViewOffset(width, height, ...spread(n), width, height);
    renderer.autoClear = true;
    renderer.setRenderTarget(drawn);
    renderer.render(scene, camera);
    renderer.autoClear = false;
    renderer.setRenderTarget(sum);
    renderer.render(all, flat);
  }
  const light = new Float32Array(4 * width * height), packed = new Uint16Array(3 * width * height);
  renderer.readRenderTargetPixels(sum, 0, 0, width, height, light);
  for (let at = 0, to = 0; at < light.length; at += 4) {
    for (let c = 0; c < 3; c++) packed[to++] = Math.min(65535, 16384 * Math.sqrt(Math.max(0, light[at + c])));
  }

  camera.clearViewOffset();
  camera.updateMatrixWorld();
  for (const [mesh, id] of ids) {
    mesh.material = new THREE.MeshBasicMaterial({ color: new THREE.Color(id, 0, 0) });
  }
  renderer.autoClear = true;
  const sight = new THREE.WebGLRenderTarget(width, height, { ...kind, magFilter: THREE.NearestFilter });
  renderer.setRenderTarget(sight);
  renderer.render(scene, camera);
  renderer.readRenderTargetPixels(sight, 0, 0, width, height, light);
  const seen = Uint16Array.from({ length: width * height }, (_, at) => Math.round(light[4 * at]));
  for (const [mesh] of ids) mesh.geometry.dispose();
  for (const one of [drawn, sum, sight, ...lights.map(([light]) => light), ...once]) one.dispose();
  const px = corners.map((four) => four.map((corner) => {
    const { x, y } = corner.clone().project(camera);
    return [(x + 1) / 2 * width - 0.5, (1 - y) / 2 * height - 0.5];
  }));
  return { light: await base64(packed), ids: await base64(seen), corners: px };
}

window.renderTable = render;
