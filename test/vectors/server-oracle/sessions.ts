import type { Json, JsonObject } from '../../../shared/model/json.ts'
import { drawBuiltIn } from './draw-built-in.ts'
import { createDraw, type Draw } from './draw.ts'
import { drawSchema } from './draw-schema.ts'
import { drawValue } from './draw-value.ts'
import { isNothing, patchTypes, type Session, type Step, type Target } from './requests.ts'

/** The session of a seed: two in three are about a kind of its own, the others about a kind that is built in. */
export function drawSession(seed: number): Session {
  const draw = createDraw(seed)
  const target = seed % 3 === 0 ? drawBuiltIn(draw, seed) : drawCustom(draw, seed)
  const count = 5 + draw.upTo(7)
  const first = draw.pick([create, apply])(draw, target, `${target.path}/a`, 'a')
  return [...target.before, first, ...Array.from({ length: count }, () => drawStep(draw, target))]
}

function drawCustom(draw: Draw, seed: number): Target {
  const fields = draw.some(['p', 'q', 'r', 's', 't'], 2)
  const spec: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, drawSchema(draw, 1)])),
  }
  const [plural, kind, group] = [`s${seed}s`, `S${seed}`, `s${seed}.example.dev`]
  const hasStatus = draw.chance(0.5)
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
    ...(hasStatus && { subresources: { status: {} } }),
  }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions: [version] },
  }
  return {
    before: [{ line: 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: definition }],
    path: `/apis/${group}/v1/namespaces/default/${plural}`,
    apiVersion: `${group}/v1`,
    kind,
    hasStatus,
    isStrategic: false,
    content: (odd) => ({
      spec: drawValue(draw, spec, odd),
      ...(draw.chance(0.2) && { status: draw.pick<Json>([{ a: 1 }, { b: { c: 'd' } }, null, {}]) }),
    }),
    pointers: fields.flatMap((field) => [`/spec/${field}`, `/spec/${field}/0`, `/spec/${field}/a`, `/spec/${field}/-`]),
  }
}

function drawStep(draw: Draw, target: Target): Step {
  const name = draw.pick(['a', 'a', 'b'])
  const at = `${target.path}/${name}`
  const kinds = [create, create, create, replace, mergePatch, mergePatch, jsonPatch, jsonPatch, apply, apply, apply]
  const more = [get, list, remove, ...(target.hasStatus ? [patchStatus, patchStatus] : [])]
  return draw.pick([...kinds, ...more])(draw, target, at, name)
}

type Drawn = (draw: Draw, target: Target, at: string, name: string) => Step

const create: Drawn = (draw, target, _at, name) => ({
  line: `POST ${target.path}${drawQuery(draw)}`,
  body: whole(draw, target, name),
})

const replace: Drawn = (draw, target, at, name) => {
  const body = target.isStrategic ? withoutNothing(whole(draw, target, name)) : whole(draw, target, name)
  const version = draw.pick(['$last', '$last', '$last', '1', undefined])
  const metadata = { ...(body['metadata'] as JsonObject), ...(version !== undefined && { resourceVersion: version }) }
  return { line: `PUT ${at}${drawQuery(draw)}`, body: { ...body, metadata } }
}

const mergePatch: Drawn = (draw, target, at) => ({
  line: `PATCH ${at}${drawQuery(draw)}`,
  type: target.isStrategic && draw.chance(0.6) ? patchTypes.strategic : patchTypes.merge,
  body: { ...target.content(0.12), ...(draw.chance(0.3) && { metadata: drawMetadata(draw) }) },
})

const jsonPatch: Drawn = (draw, target, at) => ({
  line: `PATCH ${at}${drawQuery(draw)}`,
  type: patchTypes.json,
  body: Array.from({ length: 1 + draw.upTo(2) }, () => drawOperation(draw, target)),
})

const apply: Drawn = (draw, target, at, name) => {
  const manager = `fieldManager=${draw.pick(['one', 'two'])}${draw.chance(0.3) ? '&force=true' : ''}`
  const query = drawQuery(draw)
  return {
    line: `PATCH ${at}${query === '' ? '?' : `${query}&`}${manager}`,
    type: patchTypes.apply,
    body: withoutNothing(withoutText(whole(draw, target, name))),
  }
}

/** Of who applies `stringData` Kubernetes says that it owns that, and not what it became. */
function withoutText({ stringData: _, ...body }: JsonObject): JsonObject {
  return body
}

const patchStatus: Drawn = (draw, target, at) => ({
  line: `PATCH ${at}/status${drawQuery(draw)}`,
  type: patchTypes.merge,
  body: { ...target.content(0), status: draw.pick<Json>([{ a: 1 }, { a: null, b: [1] }, null, 'x', {}]) },
})

const get: Drawn = (_draw, _target, at) => ({ line: `GET ${at}` })
const list: Drawn = (draw, target) => ({
  line: `GET ${target.path}${draw.pick(['', '?labelSelector=x%3D1', '?labelSelector=x%21%3D1', '?fieldSelector=metadata.name%3Da'])}`,
})
const remove: Drawn = (draw, _target, at) => ({ line: `DELETE ${at}${draw.chance(0.3) ? '?dryRun=All' : ''}` })

function whole(draw: Draw, target: Target, name: string): JsonObject {
  const { apiVersion, kind } = target
  return { apiVersion, kind, metadata: { name, ...drawMetadata(draw) }, ...target.content(0.05) }
}

/**
 * Without null, and maps and lists without anything: on Kubernetes an apply makes null of a map that it empties, and
 * refuses that then, and a type of Go takes null for one value here and for another there.
 */
function withoutNothing<Of extends Json>(value: Of): Of {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutNothing) as readonly Json[] as Of
  const fields = Object.entries(value).map(([name, field]) => [name, withoutNothing(field as Json)] as const)
  return Object.fromEntries(fields.filter(([, field]) => !isNothing(field))) as Of
}

function drawMetadata(draw: Draw): JsonObject {
  return {
    ...(draw.chance(0.3) && { labels: draw.pick<Json>([{ x: '1' }, { x: '2', y: '' }, { x: null }, { x: 'a b' }]) }),
    ...(draw.chance(0.2) && { annotations: draw.pick<Json>([{ 'a.b/c': 'd' }, { e: '' }, { e: 1 }, null]) }),
    ...(draw.chance(0.1) && { finalizers: draw.pick<Json>([['a.b/c'], [], ['a.b/c', 'd.e/f']]) }),
    ...(draw.chance(0.03) && { unheard: true }),
  }
}

function drawQuery(draw: Draw): string {
  const parts = [
    draw.pick(['', '', '', 'fieldValidation=Strict', 'fieldValidation=Ignore', 'fieldValidation=Warn']),
    draw.chance(0.08) ? 'dryRun=All' : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

function drawOperation(draw: Draw, target: Target): JsonObject {
  const pointers = [...target.pointers, '/metadata/labels', '/metadata/labels/x', '/metadata/annotations/a.b~1c']
  const [op, path] = [draw.pick(['add', 'add', 'replace', 'replace', 'remove', 'test', 'move']), draw.pick(pointers)]
  if (op === 'remove') return { op, path }
  if (op === 'move') return { op, from: draw.pick(pointers), path }
  const values = Object.values(target.content(0.1)).flatMap((value): readonly Json[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (Object.values(value) as readonly Json[])
      : [value as Json],
  )
  return { op, path, value: draw.pick<Json>([...values, { x: '1' }, '1']) }
}
