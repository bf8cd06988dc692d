import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  conditionOf,
  defineKind,
  defineReconciler,
  done,
  Namespace,
  type AssumedRole,
} from '../../../../shared/index.ts'
import { assumeRole, roleRequestOf } from '../../../../shared/engine/turn/assume-role.ts'
import { awsEngine } from '../../../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../../../shared/testing/test-env.ts'
import type { RoleRequest } from '../../../../shared/ports/roles.ts'

const roleArn = 'arn:aws:iam::210987654321:role/tenants/Shop'
const object = { kind: 'Bucket', metadata: { namespace: 'shop', name: 'photos' } } as never
const cluster = { kind: 'Bucket', metadata: { name: 'photos' } } as never
const bucket = { name: 'bucket' }

describe('the role of a run', () => {
  const asked: string[] = []
  const engine = {
    roles: { assume: async (request: RoleRequest) => request as never },
    store: {
      get: async ({ kind, name }: { readonly kind: string; readonly name: string }) => {
        asked.push(`${kind} ${name}`)
        return { object: { metadata: { annotations: { 'setpoint.dev/role-arn': roleArn } } } }
      },
    },
  } as never
  const assume = (role: AssumedRole, of: never) =>
    assumeRole(role, {
      controller: bucket,
      object: of,
      engine,
      time: { deadlineMs: 5 },
    }) as unknown as Promise<RoleRequest>

  it('is looked up in the namespace of its object, unless it is named', async () => {
    asked.length = 0
    expect((await assume({}, object)).roleArn).toBe(roleArn)
    expect(asked).toEqual(['Namespace shop'])
    const other = `${roleArn}2`
    expect((await assume({ roleArn: other }, object)).roleArn).toBe(other)
    expect(asked).toHaveLength(1)
  })

  it('is looked up nowhere for an object without a namespace', async () => {
    asked.length = 0
    await expect(assume({}, cluster)).rejects.toThrow('no role of its own')
    expect(asked).toEqual([])
  })

  it('may have fifty tags', () => {
    const tags = Object.fromEntries(Array.from({ length: 48 }, (_, i) => [`t${i}`, 'x']))
    expect(Object.keys(roleRequestOf({ roleArn, tags }, object, bucket).tags)).toHaveLength(50)
  })
})

describe('what is asked of STS', () => {
  it.each([
    [
      'by default is one session for a namespace',
      { roleArn },
      object,
      {
        sessionName: 'bucket.shop',
        externalId: 'setpoint:shop',
        tags: { 'setpoint:controller': 'bucket', 'setpoint:namespace': 'shop' },
      },
    ],
    [
      'can be one for each object',
      { roleArn, session: 'object' },
      object,
      {
        sessionName: 'bucket.shop.photos',
        externalId: 'setpoint:shop',
        tags: { 'setpoint:controller': 'bucket', 'setpoint:namespace': 'shop', 'setpoint:name': 'photos' },
      },
    ],
    [
      'has the tenant and tags that the author names, and ours whatever they say',
      { roleArn, externalId: 'tenant-7', tags: { tier: 'gold', 'setpoint:namespace': 'other' } },
      object,
      {
        sessionName: 'bucket.shop',
        externalId: 'tenant-7',
        tags: { tier: 'gold', 'setpoint:controller': 'bucket', 'setpoint:namespace': 'shop' },
      },
    ],
    [
      'of an object without a namespace has no external id of ours',
      { roleArn },
      cluster,
      { sessionName: 'bucket.photos', tags: { 'setpoint:controller': 'bucket', 'setpoint:name': 'photos' } },
    ],
  ] as const)('%s', (_, role, of, expected) => {
    expect(roleRequestOf(role, of, bucket)).toEqual({ roleArn, ...expected })
  })

  it('has a name that STS takes', () => {
    const long = { kind: 'Bucket', metadata: { namespace: 'n'.repeat(63), name: 'system:x' } } as never
    const { sessionName } = roleRequestOf({ roleArn, session: 'object' }, long, bucket)
    expect(sessionName).toMatch(/^[\w+=,.@-]{2,64}$/)
    const odd = { kind: 'Bucket', metadata: { name: 'system:x/y' } } as never
    expect(roleRequestOf({ roleArn }, odd, bucket).sessionName).toBe('bucket.system-x-y')
  })

  it.each([
    ['no role', {}, object, /the namespace shop names no role: kubectl annotate namespace shop/],
    ['no role and no namespace', {}, cluster, /has no namespace, and no role of its own/],
    ['a user', { roleArn: 'arn:aws:iam::210987654321:user/me' }, object, /is not the ARN of an IAM role/],
    ['wildcards', { roleArn: 'arn:aws:iam::210987654321:role/*' }, object, /is not the ARN of an IAM role/],
    [
      'too many tags',
      { roleArn, tags: Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`t${i}`, 'x'])) },
      object,
      /50 tags at most/,
    ],
  ])('is refused for %s', (_, role: AssumedRole, of, why) => {
    expect(() => roleRequestOf(role, of, bucket)).toThrow(why)
  })
})

const Bucket = defineKind({ group: 'test.dev', version: 'v1', kind: 'Bucket', spec: z.object({ tells: z.boolean() }) })

async function start(asked: RoleRequest[], options: Pick<TestEnvOptions, 'engine'> = {}): Promise<TestEnv> {
  const buckets = defineReconciler(Bucket, {
    grants: [],
    async reconcile({ spec }, ctx) {
      const { secretAccessKey, sessionToken } = await ctx.outside.assumeRole()
      if (spec.tells) throw new Error(`refused with ${secretAccessKey} and ${sessionToken}`)
      return done()
    },
  })
  return createTestEnv({
    ...options,
    reconcilers: [buckets],
    roles: {
      assume: async (request, untilMs) => {
        asked.push(request)
        return {
          accessKeyId: 'ASIAEXAMPLE',
          secretAccessKey: 'wJalrXUtnFEMIK7MDENG',
          sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE',
          expiresAtMs: untilMs + 1,
        }
      },
    },
  })
}

async function annotate(env: TestEnv): Promise<void> {
  await env.patch(Namespace, 'default', { metadata: { annotations: { 'setpoint.dev/role-arn': roleArn } } })
}

describe('a run', () => {
  it.each([
    ['one machine', {}],
    ['AWS', { engine: awsEngine }],
  ])('takes the role that its namespace names, for the time that it has, on the engine of %s', async (_, options) => {
    const asked: RoleRequest[] = []
    await using env = await start(asked, options)
    await annotate(env)
    await env.apply(Bucket, { metadata: { name: 'photos' }, spec: { tells: false } })
    await env.settle()
    expect(asked).toMatchObject([{ roleArn, externalId: 'setpoint:default', sessionName: 'bucket.default' }])
  })

  it('is told what to type where the namespace names none, and goes on by itself when it does', async () => {
    await using env = await start([])
    await env.apply(Bucket, { metadata: { name: 'photos' }, spec: { tells: false } })
    await env.settle()
    const waiting = await env.get(Bucket, 'photos')
    expect(waiting && conditionOf(waiting as never, 'Ready')?.message).toMatch(/kubectl annotate namespace default/)
    await annotate(env)
    await env.advance('10m')
    const ready = await env.get(Bucket, 'photos')
    expect(ready && conditionOf(ready as never, 'Ready')).toMatchObject({ status: 'True' })
  })

  it('tells nobody its credentials, whatever it throws', async () => {
    await using env = await start([])
    await annotate(env)
    await env.apply(Bucket, { metadata: { name: 'photos' }, spec: { tells: true } })
    await env.settle()
    const said = JSON.stringify([await env.get(Bucket, 'photos'), env.logs])
    expect(said).toContain('refused with *** and ***')
    expect(said).not.toContain('wJalrXUtnFEMIK7MDENG')
    expect(said).not.toContain('IQoJb3JpZ2luX2VjEXAMPLE')
  })

  it('on one machine is told that there are no roles', async () => {
    const buckets = defineReconciler(Bucket, {
      reconcile: async (_, ctx) =>
        done({ status: { key: (await ctx.outside.assumeRole({ roleArn })).accessKeyId } as never }),
    })
    await using env = await createTestEnv({ reconcilers: [buckets] })
    await env.apply(Bucket, { metadata: { name: 'photos' }, spec: { tells: false } })
    await env.settle()
    const stored = await env.get(Bucket, 'photos')
    expect(stored && conditionOf(stored as never, 'Ready')?.message).toMatch(/roles are assumed on AWS only/)
  })
})
