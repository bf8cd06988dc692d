import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStsRoles } from '../../../../shared/adapters/aws/sign-in/sts-roles.ts'
import type { Roles } from '../../../../shared/ports/roles.ts'
import { testCredentials } from '../../../../shared/testing-aws/dynalite.ts'
import { expectCode } from '../../../support/expect-code.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

/** STS by its wire protocol, as the client of AWS speaks it. */
let asked: Readonly<Record<string, string>>[]
let refusal: { readonly status: number; readonly code: string } | undefined
let server: ReturnType<typeof createServer>
let clock: VirtualClock
let roles: Roles

const hourMs = 3_600_000

beforeEach(async () => {
  asked = []
  refusal = undefined
  clock = createVirtualClock()
  server = createServer((request, reply) => {
    void take(request, reply)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = { endpoint, region: 'us-east-1', credentials: testCredentials, maxAttempts: 1 }
  roles = createStsRoles({ client, clock })
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function take(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  asked.push(Object.fromEntries(new URLSearchParams(await text(request))))
  reply.writeHead(refusal?.status ?? 200, { 'content-type': 'text/xml' }).end(answer())
}

function answer(): string {
  if (refusal !== undefined)
    return `<ErrorResponse><Error><Type>Sender</Type><Code>${refusal.code}</Code><Message>no</Message></Error></ErrorResponse>`
  const end = new Date(clock.nowMs() + hourMs).toISOString()
  return `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA${asked.length}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken><Expiration>${end}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`
}

const request = {
  roleArn: 'arn:aws:iam::210987654321:role/Shop',
  sessionName: 'bucket.shop',
  externalId: 'setpoint:shop',
  tags: { 'setpoint:namespace': 'shop' },
}
const keyOf = async (more: Partial<typeof request> = {}, forMs = 60_000): Promise<string> =>
  (await roles.assume({ ...request, ...more }, clock.nowMs() + forMs)).accessKeyId

describe('a role of AWS', () => {
  it('is asked for by name, external id, session and tags', async () => {
    expect(await roles.assume(request, clock.nowMs())).toEqual({
      accessKeyId: 'ASIA1',
      secretAccessKey: 'secret',
      sessionToken: 'token',
      expiresAtMs: clock.nowMs() + hourMs,
    })
    expect(asked).toEqual([
      {
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: request.roleArn,
        RoleSessionName: 'bucket.shop',
        ExternalId: 'setpoint:shop',
        DurationSeconds: '3600',
        'Tags.member.1.Key': 'setpoint:namespace',
        'Tags.member.1.Value': 'shop',
      },
    ])
  })

  it('is asked for once by all who want it at the same time, and until shortly before it expires', async () => {
    expect(await Promise.all([keyOf(), keyOf(), keyOf()])).toEqual(['ASIA1', 'ASIA1', 'ASIA1'])
    clock.moveTo(clock.nowMs() + hourMs - 121_000)
    expect(await keyOf()).toBe('ASIA1')
    clock.moveTo(clock.nowMs() + 2_000)
    expect(await keyOf()).toBe('ASIA2')
  })

  it('is asked for anew by a run that it would not outlive', async () => {
    await keyOf()
    clock.moveTo(clock.nowMs() + hourMs / 2)
    expect(await keyOf({}, 29 * 60_000)).toBe('ASIA1')
    expect(await keyOf({}, 31 * 60_000)).toBe('ASIA2')
  })

  it('is another one for another session, external id or tag', async () => {
    const keys = [await keyOf(), await keyOf({ sessionName: 'other' }), await keyOf({ externalId: 'setpoint:other' })]
    keys.push(await keyOf({ tags: { 'setpoint:namespace': 'other' } }))
    expect(new Set(keys).size).toBe(4)
  })

  it.each([
    [
      403,
      'AccessDenied',
      'UNAVAILABLE',
      /may not be assumed by the session bucket.shop with the external id setpoint:shop/,
    ],
    [400, 'Throttling', 'THROTTLED', /cannot assume the role/],
    [500, 'InternalFailure', 'UNAVAILABLE', /cannot assume the role/],
  ] as const)('that is refused by %s %s is asked for again the next time', async (status, code, ours, why) => {
    refusal = { status, code }
    await expectCode(keyOf(), ours)
    await expect(keyOf()).rejects.toThrow(why)
    refusal = undefined
    expect(await keyOf()).toBe('ASIA3')
  })
})
