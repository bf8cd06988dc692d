import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Meter } from '../../../shared/model/cel/meter.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { compileMutations, compilePolicy } from '../../../shared/model/policy/compile-policy.ts'
import { judge } from '../../../shared/model/policy/judge.ts'
import { findConcern, makePatch } from '../../../shared/model/policy/mutate.ts'
import type { MutatingPolicySpec, PolicySpec } from '../../../shared/model/policy/policy.ts'
import type { PolicySubject } from '../../../shared/model/policy/subject.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import { defineBuiltInKind } from '../../../shared/model/served-kind.ts'
import { withDefaults } from '../../../shared/resources/admission.ts'
import { withPolicyPatch } from '../../../shared/resources/policy-patch.ts'
import { admissionRequestOf } from '../../../shared/resources/policy-request.ts'

/** What Kubernetes answered: `test/vectors/README.md` says how it was asked. */
interface Vector {
  readonly schema?: StructuralSchema
  readonly policy: PolicySpec & MutatingPolicySpec
  readonly object?: ApiObject
  readonly old?: ApiObject
  readonly params?: JsonObject
  readonly want: {
    readonly faults?: readonly string[]
    readonly denials?: readonly { readonly message: string; readonly reason?: string }[]
    readonly object?: JsonObject
    readonly failures?: readonly string[]
  }
}

const file = new URL('../../vectors/policy-vectors.jsonl.gz', import.meta.url)
const [first, ...vectors] = gunzipSync(readFileSync(file))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector)

const kind = {
  ...defineBuiltInKind({
    group: 'test.setpoint.dev',
    kind: 'Thing',
    plural: 'things',
    namespaced: true,
    schema: first?.schema ?? {},
  }),
  builtIn: false,
}
const namespaceObject = { metadata: { name: 'default', labels: { 'kubernetes.io/metadata.name': 'default' } } }
const user = { name: 'ann', groups: ['staff'], uid: '1', extra: { team: ['a', 'b'] } }

/** As the oracle has it: ann may get things in the namespace default, and the path /healthz. */
const decide: PolicySubject['decide'] = (wanted, account) => {
  const isThing =
    wanted.path === undefined &&
    wanted.group === 'test.setpoint.dev' &&
    wanted.resource === 'things' &&
    wanted.namespace === 'default' &&
    wanted.subresource === ''
  const allowed = account === undefined && wanted.verb === 'get' && (isThing || wanted.path === '/healthz')
  return { allowed, reason: '' }
}

function subjectOf({ object, old, params }: Vector): PolicySubject {
  const operation = object === undefined ? 'DELETE' : old === undefined ? 'CREATE' : 'UPDATE'
  const reviewed = { kind, operation, subresource: '', user, dryRun: false } as const
  const request = admissionRequestOf({ ...reviewed, ...(object && { object }), ...(old && { old }) })
  return { object, oldObject: old, request, params, namespaceObject, decide }
}

function expressionsOf({ validations = [], mutations = [], matchConditions = [] }: Vector['policy']): string {
  const all = [
    ...matchConditions.map(({ expression }) => expression),
    ...validations.flatMap(({ expression, messageExpression = '' }) => [expression, messageExpression]),
    ...mutations.map(({ applyConfiguration, jsonPatch }) => (applyConfiguration ?? jsonPatch)?.expression),
  ]
  return all.join(' | ').replaceAll('\n', ' ')
}

/**
 * Where ours is another answer: a map in a list is an item like any other, a null is no text that is missing, names
 * cannot be changed, and patches are held against RFC 6902, by which there has to be what is replaced or copied.
 */
const others = /items: \[\{"name"|owner: null|metadata\{name: "other"/
const lax = /op: "(?:replace|copy)".*\/spec\/(?:owner|limits)"/
const isOurs = ({ policy, object }: Vector): boolean =>
  others.test(expressionsOf(policy)) || (lax.test(expressionsOf(policy)) && object?.spec?.['owner'] === undefined)

const named = vectors.map((vector, i) => ({ ...vector, name: `${i}: ${expressionsOf(vector.policy).slice(0, 150)}` }))

describe('validating policies, as Kubernetes answers', () => {
  it.each(named.filter(({ policy }) => policy.mutations === undefined))('$name', (vector) => {
    const { policy, errors } = compilePolicy(vector.policy)
    expect({ isFaulty: errors.length > 0, errors }).toMatchObject({ isFaulty: vector.want.faults !== undefined })
    if (errors.length > 0) return
    const denials = judge(vector.policy, policy, subjectOf(vector), new Meter(300_000))
    expect(denials.map(({ message }) => message)).toEqual((vector.want.denials ?? []).map(({ message }) => message))
  })
})

describe('mutating policies, as Kubernetes answers', () => {
  it.each(named.filter((vector) => vector.policy.mutations !== undefined && !isOurs(vector)))('$name', (vector) => {
    const { policy, errors } = compileMutations(vector.policy)
    expect({ isFaulty: errors.length > 0, errors }).toMatchObject({ isFaulty: vector.want.faults !== undefined })
    if (errors.length > 0 || vector.object === undefined) return
    const meter = new Meter(300_000)
    const failures: string[] = []
    let { object } = vector
    const concern = findConcern(policy, subjectOf(vector), meter)
    if (typeof concern !== 'boolean') failures.push(concern.failure)
    for (const mutation of concern === true ? policy.mutations : []) {
      const patch = makePatch(policy, mutation, { ...subjectOf(vector), object }, meter)
      if ('failure' in patch) failures.push(patch.failure)
      else {
        try {
          object = withPolicyPatch({ kind, object, subresource: '' }, patch)
        } catch (error) {
          failures.push(String(error))
        }
      }
    }
    expect(failures).toHaveLength(vector.want.failures?.length ?? 0)
    const wanted = withDefaults(kind, vector.want.object as unknown as ApiObject)
    if (failures.length === 0) expect(object.spec).toEqual(wanted.spec)
    if (failures.length === 0) expect(object.metadata.labels).toEqual(wanted.metadata.labels)
  })
})
