import { describe, expect, it } from 'vitest'
import { createScale } from '../../../shared/api/verbs/scale.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import type { ScalePaths, ServedKind } from '../../../shared/model/served-kind.ts'
import type { ReviewedPath } from '../../../shared/resources/policy-review.ts'
import type { WriteOptions } from '../../../shared/resources/resources.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'
import { fakeServices, storedOf } from './fake-services.ts'
import type { Sent } from './sent-request.ts'

const paths: ScalePaths = {
  specReplicasPath: '.spec.size.n',
  statusReplicasPath: '.status.n',
  labelSelectorPath: '.status.selector',
}
const kindOf = (scale: ScalePaths): ServedKind => ({ ...plainKind, scale })
const live = storedOf({ namespace: 'n' }, { spec: { size: { n: 3 } }, status: { n: 2, selector: 'a=b' } })
const path = '/apis/g.dev/v1/namespaces/n/ks/a/scale'
const scale = {
  kind: 'Scale',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { replicas: 3 },
  status: { replicas: 2, selector: 'a=b' },
}
const conflict = () => {
  throw new OperatingError('VERSION_CONFLICT', 'overtaken')
}

function open({ stored = live, kind = kindOf(paths), ends = [] as (() => unknown)[] } = {}) {
  const services = fakeServices({
    get: () => stored,
    patch: () => (ends.shift() ?? (() => ({ stored, outcome: 'updated', warnings: ['w'] })))(),
  })
  const ask = (line: string, sent: Sent = {}) =>
    endOf(async () => {
      const { status, headers, body } = await createScale(services)(callOf(line, { kind, ...sent }))
      return [status, JSON.parse(body as string) as Json, headers['warning']]
    })
  const patches = () => services.asked.filter(([verb]) => verb === 'patch')
  return { ask, patches }
}

const put = (body: JsonObject) => ['PUT', { body }] as const
const sentAs = (type: string, body: Json) => ['PATCH', { type, body: JSON.stringify(body) }] as const
const merge = (body: Json) => sentAs('application/merge-patch+json', body)
const json = (...body: JsonObject[]) => sentAs('application/json-patch+json', body)
const apply = (body: JsonObject) => sentAs('application/apply-patch+yaml', body)
const typed = { apiVersion: 'autoscaling/v1', kind: 'Scale' }

it('takes no body of another kind for a scale', async () => {
  const { ask, patches } = open()
  const body = { apiVersion: 'g.dev/v1', kind: 'K', spec: { replicas: 7 } }
  expect(await ask(`PUT ${path}`, { body })).toContain('BAD_REQUEST: the object provided is g.dev/v1 K')
  expect(patches()).toEqual([])
})

describe('the scale of an object', () => {
  const { selector: _, ...plainStatus } = scale.status
  const { namespace: __, ...clusterMeta } = scale.metadata
  it.each<[string, ScalePaths, JsonObject, JsonObject]>([
    ['whole', paths, { spec: { size: { n: 3 } }, status: { n: 2, selector: 'a=b' } }, scale],
    ['of nothing', paths, {}, { ...scale, spec: { replicas: 0 }, status: { replicas: 0 } }],
    [
      'of what is no number',
      paths,
      { spec: { size: { n: '3' } }, status: { n: null, selector: 5 } },
      { ...scale, spec: { replicas: 0 }, status: { replicas: 0 } },
    ],
    [
      'of what is no object',
      paths,
      { spec: { size: 3 }, status: 4 },
      { ...scale, spec: { replicas: 0 }, status: { replicas: 0 } },
    ],
    [
      'with an empty selector',
      paths,
      { spec: { size: { n: 3 } }, status: { n: 2, selector: '' } },
      { ...scale, status: plainStatus },
    ],
    [
      'without a selector',
      { specReplicasPath: '.spec.size.n', statusReplicasPath: '.status.n' },
      { spec: { size: { n: 3 } }, status: { n: 2, selector: 'a=b' } },
      { ...scale, status: plainStatus },
    ],
  ])('%s', async (_what, of, parts, shown) => {
    const stored = storedOf({ namespace: 'n' }, parts)
    expect(await open({ stored, kind: kindOf(of) }).ask(`GET ${path}`)).toStrictEqual([200, shown, undefined])
  })

  it('of the cluster names no namespace', async () => {
    const stored = storedOf({}, live.object)
    const plain = { ...stored, object: { ...stored.object, metadata: storedOf({}).object.metadata } }
    expect(await open({ stored: plain }).ask(`GET ${path}`)).toStrictEqual([
      200,
      { ...scale, metadata: clusterMeta },
      undefined,
    ])
  })

  it('is shown as a table', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const [, table] = (await open().ask(`GET ${path}`, { accept })) as [number, { rows: { cells: Json }[] }]
    expect(table.rows[0]?.cells).toEqual(['a', 3, 2, expect.anything()])
  })

  it('is none where the kind has none', async () => {
    expect(await open({ kind: plainKind }).ask(`GET ${path}`)).toEqual(new Error('objects of K have no scale'))
  })
})

describe('a write of a scale', () => {
  it.each<[string, readonly [string, Sent], number]>([
    ['a replacement', put({ spec: { replicas: 5 } }), 5],
    ['one without a number', put({ spec: {} }), 0],
    ['one without a spec', put({}), 0],
    ['the highest number', put({ spec: { replicas: 2 ** 31 - 1 } }), 2 ** 31 - 1],
    ['a merge patch', merge({ spec: { replicas: 5 } }), 5],
    ['a merge patch of nothing', merge({}), 3],
    ['a merge patch that takes the metadata away', merge({ metadata: null }), 3],
    ['a JSON patch', json({ op: 'replace', path: '/spec/replicas', value: 5 }), 5],
  ])('by %s sets the one field', async (_what, [method, sent], n) => {
    const { ask, patches } = open()
    expect(await ask(`${method} ${path}`, sent)).toEqual([200, scale, '299 - "w"'])
    expect(patches()).toMatchObject([
      [
        'patch',
        { kind: 'K' },
        { namespace: 'n', name: 'a' },
        { type: 'merge', body: { metadata: { resourceVersion: '7' }, spec: { size: { n } } } },
        { manager: 'kubectl', dryRun: false, user: { name: 'ann' }, path: { subresource: 'scale' } },
      ],
    ])
  })

  const whole = 'must be a whole number, greater than or equal to 0'
  const no = (value: string) =>
    `INVALID: Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: ${value}: ${whole}`
  const notObject = 'BAD_REQUEST: the body of a merge patch must be an object'
  it.each<[readonly [string, Sent], string]>([
    [put({ spec: { replicas: -1 } }), no('-1')],
    [put({ spec: { replicas: 1.5 } }), no('1.5')],
    [put({ spec: { replicas: '5' } }), no('"5"')],
    [put({ spec: { replicas: 2 ** 31 } }), no('2147483648')],
    [put({ spec: { replicas: null } }), no('null')],
    [merge({ spec: { replicas: -1 } }), no('-1')],
    [merge([1]), notObject],
    [
      sentAs('text/plain', {}),
      'UNSUPPORTED_MEDIA_TYPE: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml; it was text/plain',
    ],
    [sentAs('application/json-patch+json', {}), 'BAD_REQUEST: the body of a JSON patch must be a list of operations'],
  ])('by %j is refused', async ([method, sent], why) => {
    const { ask, patches } = open()
    expect(await ask(`${method} ${path}`, sent)).toBe(why)
    expect(patches()).toEqual([])
  })

  it('that is overtaken is tried again, unless it names another version than the newest', async () => {
    const named = (resourceVersion: string | null) => put({ metadata: { resourceVersion }, spec: { replicas: 5 } })
    for (const [[method, sent], tries, version] of [
      [put({ spec: { replicas: 5 } }), 2, '7'],
      [named(''), 2, '7'],
      [named(null), 2, '7'],
      [named('0'), 2, '7'],
      [named('7'), 2, '7'],
      [named('6'), 1, '6'],
    ] as const) {
      const { ask, patches } = open({ ends: [conflict] })
      const end = await ask(`${method} ${path}`, sent)
      expect(end).toEqual(tries === 1 ? 'VERSION_CONFLICT: overtaken' : [200, scale, '299 - "w"'])
      expect(patches()).toHaveLength(tries)
      expect(patches()[0]?.[3]).toMatchObject({ body: { metadata: { resourceVersion: version } } })
    }
  })

  it('that is tried again has no more of admission for it', async () => {
    const [method, sent] = put({ spec: { replicas: 5 } })
    const { ask, patches } = open({ ends: [conflict] })
    await ask(`${method} ${path}`, sent)
    const [first, again] = patches().map((asked) => (asked[4] as WriteOptions).budget)
    expect(first).toBeInstanceOf(AdmissionBudget)
    expect(again).toBe(first)
  })

  it('by a replacement is of the object that it names', async () => {
    const named = (uid: string) => ({ metadata: { uid }, spec: { replicas: 5 } })
    for (const [[method, sent], tries, uid] of [
      [put(named('')), 2, undefined],
      [put(named('u')), 2, undefined],
      [put(named('other')), 1, 'other'],
      [merge(named('other')), 2, undefined],
    ] as const) {
      const { ask, patches } = open({ ends: [conflict] })
      const end = await ask(`${method} ${path}`, sent)
      expect(end).toEqual(tries === 1 ? 'VERSION_CONFLICT: overtaken' : [200, scale, '299 - "w"'])
      const metadata = { resourceVersion: '7', ...(uid !== undefined && { uid }) }
      expect(patches()[0]?.[3]).toEqual({ type: 'merge', body: { metadata, spec: { size: { n: 5 } } } })
    }
  })

  it('is asked for by the options of its method', async () => {
    const query = '?fieldValidation=x'
    expect(await open().ask(`PUT ${path}${query}`, { body: {} })).toMatch(/^INVALID: UpdateOptions/)
    expect(await open().ask(`PATCH ${path}${query}`, merge({})[1])).toMatch(/^INVALID: PatchOptions/)
  })

  it('that fails otherwise is not tried again', async () => {
    const { ask, patches } = open({
      ends: [
        () => {
          throw new OperatingError('INVALID', 'no')
        },
      ],
    })
    expect(await ask(`PUT ${path}`, { body: {} })).toBe('INVALID: no')
    expect(patches()).toHaveLength(1)
  })
})

describe('who applies a scale', () => {
  const line = `PATCH ${path}?fieldManager=m&force=true`
  it.each<[string, JsonObject, JsonObject]>([
    ['owns the number', { spec: { replicas: 5 } }, { spec: { size: { n: 5 } } }],
    ['lets it go', {}, {}],
    ['lets it go by a spec without it', { spec: {} }, {}],
    [
      'may name a version',
      { metadata: { resourceVersion: '6' }, spec: { replicas: 5 } },
      { metadata: { resourceVersion: '6' }, spec: { size: { n: 5 } } },
    ],
  ])('%s', async (_what, body, applied) => {
    const { ask, patches } = open()
    expect(await ask(line, apply({ ...typed, ...body })[1])).toEqual([200, scale, '299 - "w"'])
    expect(patches()[0]?.[3]).toStrictEqual({ type: 'apply', force: true, body: applied })
  })

  it('is refused for what there cannot be, and for another kind', async () => {
    const { ask, patches } = open({ ends: [conflict] })
    expect(await ask(line, apply({ ...typed, spec: { replicas: -1 } })[1])).toMatch(/^INVALID: Scale.autoscaling "a"/)
    expect(await ask(line, apply({ ...typed, kind: 'K' })[1])).toMatch(/^BAD_REQUEST: /)
    expect(patches()).toEqual([])
    expect(await ask(line, apply(typed)[1])).toBe('VERSION_CONFLICT: overtaken')
    expect(patches()).toHaveLength(1)
  })
})

describe('what admission is shown', () => {
  async function shownPath(kind = kindOf(paths)): Promise<ReviewedPath> {
    const { ask, patches } = open({ kind })
    await ask(`PUT ${path}`, { body: {} })
    return (patches()[0]?.[4] as { path?: ReviewedPath } | undefined)?.path as ReviewedPath
  }

  it('is the scale, in a namespace or in none', async () => {
    const { kind, show } = await shownPath()
    expect([kind.kind, kind.group, kind.namespaced]).toEqual(['Scale', 'autoscaling', true])
    expect(show(live.object)).toEqual(scale)
    expect((await shownPath({ ...kindOf(paths), namespaced: false })).kind.namespaced).toBe(false)
  })

  it('changes the object where it changes the scale', async () => {
    const { absorb } = await shownPath()
    const shown = (replicas: number) => ({ ...scale, spec: { replicas } }) as unknown as ApiObject
    expect(absorb(live.object, shown(3))).toBe(live.object)
    expect(absorb(live.object, shown(4))).toEqual({ ...live.object, spec: { size: { n: 4 } } })
    expect(() => absorb(live.object, shown(-4))).toThrow('must be a whole number')
  })
})
