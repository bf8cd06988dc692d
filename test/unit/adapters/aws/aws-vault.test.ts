import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAwsVault } from '../../../../shared/adapters/aws/vault/aws-vault.ts'
import type { Vault, VaultEntry } from '../../../../shared/ports/vault.ts'
import { testCredentials } from '../../../../shared/testing-aws/dynalite.ts'
import { expectCode } from '../../../support/expect-code.ts'

/** The services by their wire protocol: what they answer to each action, and what they were asked. */
let answers: Readonly<Record<string, object>>
let asked: { readonly action: string; readonly body: Record<string, unknown> }[]
let server: ReturnType<typeof createServer>
let vault: Vault

const ours = { uid: 'uid-1', controller: 'shop' }
const tags = [
  { Key: 'setpoint:owner', Value: 'uid-1' },
  { Key: 'setpoint:controller', Value: 'shop' },
]
const secret: VaultEntry = { secretsManager: 'shop/default/db' }
const parameter: VaultEntry = { parameter: '/shop/default/db' }

beforeEach(async () => {
  asked = []
  server = createServer((request, reply) => {
    void take(request, reply)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vault = createAwsVault({ endpoint, region: 'us-east-1', credentials: testCredentials, maxAttempts: 1 })
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function take(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const action = String(request.headers['x-amz-target']).split('.')[1] ?? ''
  asked.push({ action, body: JSON.parse(await text(request)) as Record<string, unknown> })
  const answer = answers[action] ?? { __type: 'ResourceNotFoundException' }
  reply.writeHead('__type' in answer ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' })
  reply.end(JSON.stringify(answer))
}

describe('secrets and parameters of AWS', () => {
  it('are made with the tags of their owner, and a parameter is encrypted', async () => {
    answers = { GetParameter: { __type: 'ParameterNotFound' }, PutParameter: {}, CreateSecret: {} }
    await vault.write(secret, 'text', ours)
    await vault.write({ parameter: 'shop/default/db' }, 'text', ours)
    expect(asked.map(({ action }) => action)).toEqual([
      'DescribeSecret',
      'CreateSecret',
      'GetParameter',
      'PutParameter',
    ])
    expect(asked[1]?.body).toMatchObject({ Name: 'shop/default/db', SecretString: 'text', Tags: tags })
    expect(asked[3]?.body).toEqual({ Name: '/shop/default/db', Type: 'SecureString', Value: 'text', Tags: tags })
  })

  it.each([{ KeyId: 'alias/shop' }, {}])('keep their key, which SSM would change with the value: %j', async (key) => {
    answers = {
      GetParameter: { Parameter: { Value: 'before' } },
      ListTagsForResource: { TagList: tags },
      GetParameterHistory: {
        Parameters: [
          { Version: 1, KeyId: 'alias/aws/ssm' },
          { Version: 2, ...key },
        ],
      },
      PutParameter: {},
    }
    expect(await vault.write(parameter, 'text', ours)).toBe('written')
    expect(asked.map(({ action }) => action)).toEqual([
      'GetParameter',
      'ListTagsForResource',
      'GetParameterHistory',
      'PutParameter',
    ])
    const written = { Name: '/shop/default/db', Type: 'SecureString', Value: 'text', Overwrite: true, ...key }
    expect(asked.at(-1)?.body).toEqual(written)
    expect(await vault.write(parameter, 'before', ours)).toBe('unchanged')
    expect(asked).toHaveLength(6)
  })

  it('that exist are not written over by one who believed them absent', async () => {
    const answer = { __type: 'ParameterAlreadyExists' }
    answers = { GetParameter: { __type: 'ParameterNotFound' }, PutParameter: answer }
    await expectCode(vault.write(parameter, 'text', ours), 'UNAVAILABLE')
    expect(asked.at(-1)?.body).not.toHaveProperty('Overwrite')
  })

  it('that are to be deleted are absent for readers, and are not written', async () => {
    answers = { GetSecretValue: { __type: 'InvalidRequestException' }, DescribeSecret: { Tags: tags, DeletedDate: 1 } }
    expect(await vault.read(secret)).toBeUndefined()
    const { message } = await expectCode(vault.write(secret, 'text', ours), 'UNAVAILABLE')
    expect(message).toMatch(/is to be deleted: restore it/)
  })

  it('that are to be deleted are removed at once, and are left alone if they are foreign', async () => {
    answers = { DescribeSecret: { Tags: tags, DeletedDate: 1 }, DeleteSecret: {} }
    expect(await vault.remove(secret, ours)).toBe('removed')
    expect(asked.at(-1)?.body).toMatchObject({ ForceDeleteWithoutRecovery: true })
    expect(await vault.remove(secret, { ...ours, uid: 'another' })).toBe('foreign')
    expect(await vault.write(secret, 'text', { ...ours, uid: 'another' })).toBe('foreign')
    expect(asked.at(-1)?.action).toBe('DescribeSecret')
  })

  it('that hold bytes are refused', async () => {
    answers = { GetSecretValue: { SecretBinary: 'AAAA' } }
    const { message } = await expectCode(vault.read(secret), 'UNAVAILABLE')
    expect(message).toMatch(/holds bytes/)
  })

  it.each([
    ['AccessDeniedException', 'UNAVAILABLE', /cannot .*: AccessDeniedException: the role of the function/],
    ['ThrottlingException', 'THROTTLED', /cannot .*: ThrottlingException$/],
    ['ValidationException', 'UNAVAILABLE', /cannot .*: ValidationException$/],
  ] as const)('say of %s its name alone, which repeats no text', async (name, code, expected) => {
    const failed = { __type: name, message: "Value 'hunter2-hunter2' at 'value' failed" }
    answers = {
      GetSecretValue: failed,
      CreateSecret: failed,
      GetParameter: { __type: 'ParameterNotFound' },
      PutParameter: failed,
    }
    for (const call of [
      vault.read(secret),
      vault.write(secret, 'hunter2-hunter2', ours),
      vault.write(parameter, 'hunter2-hunter2', ours),
    ]) {
      const error = await expectCode(call, code)
      expect(error.message).toMatch(expected)
      expect(JSON.stringify([error, error.cause, error.stack])).not.toContain('hunter2')
    }
  })
})
