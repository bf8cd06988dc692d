import { describe, expect, it } from 'vitest'
import { authorizerValues, type Decide } from '../../../../shared/model/cel/functions/authorizer.ts'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { parseType } from '../../../../shared/model/cel/type.ts'
import { CelFailure, type Result } from '../../../../shared/model/cel/value.ts'
import type { Json } from '../../../../shared/model/json.ts'

const types = {
  authorizer: parseType('kubernetes.authorization.Authorizer'),
  'authorizer.requestResource': parseType('kubernetes.authorization.ResourceCheck'),
}
const request = {
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
  subResource: 'scale',
  namespace: 'n',
  name: 'a',
}
const nothing = { verb: '', group: '', resource: '', subresource: '', namespace: '', name: '' }

/** What an expression comes to, and what was asked on the way. */
function run(text: string, of: Json = request): { readonly result: Result; readonly asked: readonly unknown[] } {
  const asked: unknown[] = []
  const decide: Decide = (wanted, account) => {
    asked.push(account === undefined ? wanted : [wanted, account])
    return { allowed: wanted.verb === 'get', reason: `may ${wanted.verb}` }
  }
  const program = compileExpression(text, types, { gives: [] })
  if ('fault' in program) throw new Error(program.fault)
  const result = program.run(authorizerValues(decide, of), new Meter(100_000))
  return { result: result instanceof CelFailure ? result.message : result, asked }
}

const ofRequest = { group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'n', name: 'a' }

describe('an expression asks whether somebody may do something', () => {
  it.each<[string, Result, readonly unknown[]]>([
    ['authorizer.path("/healthz").check("get").allowed()', true, [{ verb: 'get', path: '/healthz' }]],
    ['authorizer.path("/healthz").check("put").allowed()', false, [{ verb: 'put', path: '/healthz' }]],
    ['authorizer.path("").check("get").allowed()', 'path must not be empty', []],
    [
      'authorizer.group("g").resource("r").check("get").reason()',
      'may get',
      [{ ...nothing, verb: 'get', group: 'g', resource: 'r' }],
    ],
    ['authorizer.group("").resource("").check("get").allowed()', 'resource must not be empty', []],
    [
      'authorizer.group("").resource("r").subresource("s").namespace("n").name("a").check("get").allowed()',
      true,
      [{ verb: 'get', group: '', resource: 'r', subresource: 's', namespace: 'n', name: 'a' }],
    ],
    [
      'authorizer.group("").resource("r").fieldSelector("x").labelSelector("y").check("get").allowed()',
      true,
      [{ ...nothing, verb: 'get', resource: 'r' }],
    ],
    ['authorizer.requestResource.check("get").allowed()', true, [{ ...ofRequest, verb: 'get' }]],
    ['authorizer.requestResource.check("get").errored()', false, [{ ...ofRequest, verb: 'get' }]],
    ['authorizer.requestResource.check("get").error()', '', [{ ...ofRequest, verb: 'get' }]],
    [
      'authorizer.serviceAccount("n", "a").path("/x").check("get").allowed()',
      true,
      [
        [
          { verb: 'get', path: '/x' },
          { namespace: 'n', name: 'a' },
        ],
      ],
    ],
    [
      'authorizer.serviceAccount("n", "a").serviceAccount("m", "b").path("/x").check("get").allowed()',
      true,
      [
        [
          { verb: 'get', path: '/x' },
          { namespace: 'n', name: 'a' },
        ],
      ],
    ],
    ['authorizer.serviceAccount("n", "A").path("/x").check("get").allowed()', 'Invalid service account name', []],
    ['authorizer.serviceAccount("N", "a").path("/x").check("get").allowed()', 'Invalid service account namespace', []],
    ['authorizer == authorizer', true, []],
    ['authorizer.path("/x") == authorizer.path("/x")', false, []],
  ])('%s: %s', (text, result, asked) => {
    expect(run(text)).toEqual({ result, asked })
  })

  it.each<[Json]>([[null], [5], [{}], [{ resource: null }], [{ resource: 5 }]])(
    'of a request that is %j, of nothing',
    (of) => {
      expect(run('authorizer.requestResource.check("get").allowed()', of).asked).toEqual([{ ...nothing, verb: 'get' }])
    },
  )
})
