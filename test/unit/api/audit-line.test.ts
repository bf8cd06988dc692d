import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AuditNote } from '../../../shared/api/access/audit-line.ts'
import type { Decision } from '../../../shared/model/access/authorize.ts'
import { createAccessBook } from '../../../shared/model/access/access-book.ts'
import { authorizeAgain, type RememberedDecision } from '../../../shared/model/access/remembered-decisions.ts'
import type { Attributes } from '../../../shared/model/access/rules.ts'
import { microTimestamp } from '../../../shared/model/time.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { User } from '../../../shared/ports/authenticator.ts'
import type { HttpRequest } from '../../../shared/ports/http-handler.ts'
import { share } from '../../support/strength.ts'

const request = (agent?: string, path = '/api/v1'): HttpRequest =>
  ({ method: 'GET', path, header: (name: string) => (name === 'user-agent' ? agent : undefined) }) as HttpRequest

const startMs = Date.parse('2026-05-01T12:00:00.007Z')

interface Said {
  readonly id?: string | undefined
  readonly sender?: User | undefined
  readonly user?: User | undefined
  readonly wanted?: Attributes | undefined
  readonly decision?: Decision | undefined
  /** Names in the data. */
  readonly changed?: readonly string[] | undefined
  readonly agent?: string | undefined
  readonly path?: string | undefined
  readonly tookMs: number
  readonly code: number
}

function lineOf({ id, sender, user, wanted, decision, changed, agent, path, tookMs, code }: Said): string {
  const note = new AuditNote(request(agent, path), startMs, id)
  note.sender = sender
  note.user = user
  if (wanted !== undefined) note.want(wanted)
  note.decision = decision
  if (changed !== undefined) note.change = changeOf(changed)
  note.end(startMs + tookMs, code)
  return note.line()
}

/** A write that adds these fields to the data. */
function changeOf(fields: readonly string[]): NonNullable<AuditNote['change']> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } }
  const live = { ...object, data: {} } as unknown as ApiObject
  return { live, next: { ...live, data: Object.fromEntries(fields.map((field) => [field, 'new'])) } }
}

/** The same by way of an object. */
function wholeLine(said: Said): string {
  const { id, sender, user, wanted, decision, changed, agent, path = '/api/v1', tookMs, code } = said
  const person = (one: User | undefined) => one && { name: one.name, groups: one.groups, uid: one.uid }
  const some = (text: string): string | undefined => (text === '' ? undefined : text)
  const isKnown = wanted !== undefined && sender !== undefined && user !== undefined
  const asked = () => {
    if (!isKnown) return { verb: 'get', path }
    if (wanted.path !== undefined) return wanted
    const { verb, group, resource, subresource, namespace } = wanted
    const parts = { group: some(group), resource: some(resource), subresource: some(subresource) }
    return { verb, ...parts, namespace: some(namespace) }
  }
  return JSON.stringify({
    time: microTimestamp(startMs + tookMs),
    auditID: id,
    user: person(sender),
    as: user === sender ? undefined : person(user),
    ...asked(),
    name: wanted === undefined || wanted.path !== undefined ? undefined : some(wanted.name),
    decision: sender === undefined ? 'unknown' : decision?.allowed === true ? 'allow' : 'deny',
    reason: sender === undefined || decision === undefined ? undefined : some(decision.reason),
    changed: changed?.map((field) => `data.${field}`),
    agent: agent?.slice(0, 500),
    code,
    latencyMs: tookMs,
  })
}

const ann: User = { name: 'ann', groups: ['team', 'a "b"'] }
const bob: User = { name: 'bö\n', groups: [], uid: 'u1' }
const root: User = { name: 'root', groups: ['system:masters'] }

const role = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }
const book = createAccessBook()
for (const object of [
  { kind: 'ClusterRole', metadata: { name: 'r' }, rules: [role, { verbs: ['get'], nonResourceURLs: ['/a*'] }] },
  {
    kind: 'ClusterRoleBinding',
    metadata: { name: 'r' },
    roleRef: { kind: 'ClusterRole', name: 'r' },
    subjects: [{ kind: 'User', name: 'ann' }],
  },
])
  book.note(object as unknown as ApiObject)

const texts = fc.constantFrom('', 'a', 'configmaps', 'é', '"', '\\', '\u0000')
const wanteds: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({
    verb: fc.constantFrom('get', 'list'),
    group: fc.constantFrom('', 'apps'),
    resource: fc.constantFrom('configmaps', 'secrets'),
    subresource: fc.constantFrom('', 'status'),
    namespace: texts,
    name: texts,
  }),
  fc.record({ verb: fc.constantFrom('get', 'post'), path: fc.constantFrom('/a', '/b"', '/aé') }),
)
const people = fc.constantFrom(undefined, ann, bob, root)
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined })

describe('a line of the record', () => {
  it('is what JSON makes of its parts, however much of it is remembered', () => {
    const said = fc.record({
      id: fc.constantFrom(undefined, 'an-id'),
      sender: people,
      user: people,
      wanted: maybe(wanteds),
      isDecided: fc.boolean(),
      changed: maybe(fc.uniqueArray(texts)),
      agent: maybe(fc.string({ maxLength: 600, unit: 'binary' })),
      path: fc.constantFrom('/x', '/é"'),
      tookMs: fc.constantFrom(0, 1, 99, 100, 101, 12_345),
      code: fc.constantFrom(200, 201, 404, 500),
    })
    const check = ({ isDecided, ...rest }: Said & { readonly isDecided: boolean }): void => {
      const { user, wanted } = rest
      const isAsked = isDecided && user !== undefined && wanted !== undefined
      const decision = isAsked ? authorizeAgain(user, wanted, book) : undefined
      const whole = { ...rest, decision }
      expect(lineOf(whole)).toBe(wholeLine(whole))
    }
    fc.assert(fc.property(said, check), { numRuns: share(20_000) })
  })

  it('is this text', () => {
    const wanted = { verb: 'get', group: '', resource: 'configmaps', subresource: '', namespace: 'n', name: 'm1' }
    const decision = authorizeAgain(ann, wanted, book)
    const line = (name: string) =>
      lineOf({ id: 'i', sender: ann, user: ann, wanted: { ...wanted, name }, decision, tookMs: 2, code: 200 })
    const text = (name: string) =>
      String.raw`{"time":"2026-05-01T12:00:00.009Z","auditID":"i","user":{"name":"ann","groups":["team","a \"b\""]},"verb":"get","resource":"configmaps","namespace":"n"${name},"decision":"allow","reason":"RBAC: allowed by ClusterRoleBinding \"r\" of ClusterRole \"r\" to User \"ann\"","code":200,"latencyMs":2}`
    expect(line('m1')).toBe(text(',"name":"m1"'))
    expect(line('m"')).toBe(text(String.raw`,"name":"m\""`))
    expect(line('')).toBe(text(''))
  })
})

describe('a record', () => {
  const wanted = { verb: 'get', group: '', resource: 'configmaps', subresource: '', namespace: 'n', name: 'm' }
  const said = { sender: ann, user: ann, wanted, decision: undefined, tookMs: 0, code: 200 }

  it('has all its fields from the start', () => {
    const parts = { method: 'GET', path: '/api/v1', startMs, id: 'i', begin: '', latencyMs: 0, code: 0, name: '' }
    expect(new AuditNote(request('curl'), startMs, 'i')).toMatchObject({ ...parts, agent: 'curl' })
  })

  it('holds what admission has said', () => {
    const note = new AuditNote(request(), startMs, undefined)
    note.annotations = { 'a/b': 'c' }
    expect(note.line()).toContain(',"annotations":{"a/b":"c"},')
  })

  it('names twenty changed fields, and tells that there are more', () => {
    const changed = Array.from({ length: 30 }, (_, i) => `f${10 + i}`)
    const named = (JSON.parse(lineOf({ ...said, changed })) as { readonly changed: readonly string[] }).changed
    expect(named).toEqual([...changed.slice(0, 20).map((field) => `data.${field}`), '…'])
  })

  it('holds 500 characters of a path, and of what the client calls itself', () => {
    const long = 'a'.repeat(600)
    const parts = JSON.parse(lineOf({ agent: long, path: `/${long}`, tookMs: 0, code: 200 })) as object
    expect(parts).toMatchObject({ agent: long.slice(0, 500), path: `/${long.slice(0, 499)}` })
  })

  it('tells the code and the time of each request, however often they come', () => {
    const ends = [
      [200, 3],
      [500, 0],
      [200, 3],
      [200, 99],
      [201, 0],
      [200, 100],
      [200, 100],
    ] as const
    for (const [code, tookMs] of ends)
      expect(lineOf({ ...said, code, tookMs })).toMatch(new RegExp(`,"code":${code},"latencyMs":${tookMs}}$`))
  })

  it('takes no time if the clock was set back', () => {
    expect(lineOf({ ...said, tookMs: -5 })).toContain('"latencyMs":0}')
  })

  it.each([
    [{ allowed: false, reason: 'no' }, ',"decision":"deny","reason":"no",'],
    [{ allowed: true, reason: 'yes' }, ',"decision":"allow","reason":"yes",'],
    [{ allowed: false, reason: '' }, ',"decision":"deny",'],
    [{ allowed: true, reason: '' }, ',"decision":"allow",'],
  ])('tells the decision %j', (decision, text) => {
    expect(lineOf({ ...said, decision })).toContain(text)
  })

  it('of a decision that is remembered is remembered with it, unless it is in the name of another', () => {
    const decision = authorizeAgain(ann, wanted, book) as RememberedDecision
    lineOf({ ...said, decision })
    const { saying } = decision
    lineOf({ ...said, decision })
    expect(saying).toBeDefined()
    lineOf({ ...said, sender: root, decision })
    expect(decision.saying).toBe(saying)
    expect(lineOf({ ...said, sender: root, decision })).toContain('"as":{"name":"ann"')
  })
})
