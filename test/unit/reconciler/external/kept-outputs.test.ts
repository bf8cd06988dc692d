import { describe, expect, it } from 'vitest'
import { digest as digestOf } from '../../../../shared/model/digest.ts'
import type { ApiObject, Context } from '../../../../shared/index.ts'
import { declarationDigest } from '../../../../shared/reconciler/external/declaration.ts'
import type { Outputs } from '../../../../shared/reconciler/external/external-options.ts'
import { nowMs, runOnce, thingOf, type Given } from './one-run.ts'

const digest = declarationDigest(thingOf({}), {})
const target = { parameter: { name: 'p' } }
const elsewhere = { parameter: { name: 'q' } }
const kept = digestOf(JSON.stringify({ user: 'x' }))
const made = { id: 'x', createdAtMs: 0, digest, syncedAtMs: nowMs, outputKeys: ['user'] }
const entities = { x: { id: 'x', owner: 'u', size: 1 } }
const secret = { 'ns/thing-login': { metadata: {}, data: { user: 'x' } } as unknown as ApiObject }

function given(to: unknown, more: Given = {}): Given {
  const outputs: Outputs<ApiObject> = {
    name: ({ metadata: { name } }) => `${name}-login`,
    data: ({ id }) => ({ user: String(id) }),
    ...(to !== undefined && { to: () => to as never }),
  }
  return { entities, ...more, far: { outputs } }
}

const applied = ['apply', { metadata: { name: 'thing-login' }, stringData: { user: 'x' } }]
const dueMemory = { ...made, syncedAtMs: 0 }

it('outputs that are told no more are kept to the letter, with a mark of the order of bytes, too', async () => {
  const user = '\uFEFFx'
  const objects = { 'ns/thing-login': { data: { user: Buffer.from(user).toString('base64') } } as unknown as ApiObject }
  const outputs: Outputs<ApiObject> = { name: () => 'thing-login', data: () => ({}) }
  const { secrets } = await runOnce({ entities, objects, memory: dueMemory, far: { outputs } })
  expect(secrets).toEqual([['apply', { metadata: { name: 'thing-login' }, stringData: { user } }]])
})

describe('outputs of which nobody knows whether they were written', () => {
  const data = { password: btoa('p'), user: btoa('x') }
  const before = digestOf(JSON.stringify(data))
  const outputs: Outputs<ApiObject> = { name: () => 'thing-login', data: ({ id }) => ({ user: String(id) }) }
  const isLost = 'password is told no more, and cannot be read where it is kept: it was never written'
  const memoryOf = (more: object) => ({ ...dueMemory, outputKeys: ['password', 'user'], ...more })

  it.each<[string, object, object | undefined, string | undefined]>([
    ['are kept if they are there', { outputsUnkept: ['password', 'user'] }, data, undefined],
    ['are lost if they are not', { outputsUnkept: ['password', 'user'] }, undefined, isLost],
    ['are lost if another key is there', { outputsUnkept: ['password'] }, { user: data.user }, isLost],
    ['are lost if that is of an entity before', { outputsUnkept: ['password'], outputsBefore: before }, data, isLost],
    ['are not asked for if they were written before', { outputsUnkept: ['user'] }, undefined, undefined],
    ['are not asked for by a memory that is older', {}, undefined, undefined],
  ])('%s', async (...[, more, there, message]) => {
    const objects = there && { 'ns/thing-login': { metadata: {}, data: there } as unknown as ApiObject }
    const world = { entities, ...(objects && { objects }), far: { outputs } }
    const { error, memory } = await runOnce({ ...world, memory: memoryOf(more) })
    if (message === undefined) expect(error).toBeUndefined()
    else expect(error).toMatchObject({ name: 'OperatingError', message: expect.stringContaining(message) })
    expect(memory?.outputsUnkept).toEqual(message && (more as typeof memory)?.outputsUnkept)
  })

  it('are lost in AWS, too, where the process ended before it noted to what place they go', async () => {
    const { outputKeys: _, ...memory } = memoryOf({ outputsAt: target, outputsUnkept: ['password'] })
    const { error } = await runOnce({ entities, memory, far: { outputs: { ...outputs, to: () => target } } })
    expect(error?.message).toContain(isLost)
  })

  it('are noted with the id of the entity that told them, beside what is stored of the one before', async () => {
    const memories: unknown[] = []
    const noteAtWrite = (ctx: Context) => memories.push(ctx.notes.get('external'))
    const far = { outputs: { ...outputs, data: () => ({ password: 'p', other: undefined }) } }
    const { memory } = await runOnce({ memory: memoryOf({ outputs: before }), far, atWrite: noteAtWrite })
    expect(memories).toMatchObject([{ id: 'e1', outputsUnkept: ['password'], outputsBefore: before }])
    expect(memory).toMatchObject({ id: 'e1', outputKeys: ['password'] })
    expect(memory).not.toHaveProperty('outputsUnkept')
    expect(memory).not.toHaveProperty('outputsBefore')
  })

  it('are made durable before their write where an update tells them anew', async () => {
    const memories: unknown[] = []
    const told = await runOnce({
      memory: { ...dueMemory, outputKeys: ['password'] },
      entities: { x: { ...entities.x, size: 9 } },
      objects: { 'ns/thing-login': { metadata: {}, data: { password: btoa('old') } } as unknown as ApiObject },
      api: { update: async () => ({ ...entities.x, password: 'new' }) },
      far: { outputs: { ...outputs, data: ({ password }) => ({ password: password as string }) } },
      atWrite: (ctx) => memories.push(ctx.notes.get('external')),
    })
    expect([memories, told.keeps]).toMatchObject([[{ outputsUnkept: ['password'] }], 1])
  })

  it('are not asked for where the place has room for another one only', async () => {
    const { outputKeys: _, ...memory } = memoryOf({ outputsUnkept: ['password', 'user'] })
    const to = { parameter: { name: 'p', key: 'user' } }
    const { error, secrets } = await runOnce({ entities, memory, far: { outputs: { ...outputs, to: () => to } } })
    expect([error, secrets]).toEqual([undefined, [['keep', to, { user: 'x' }]]])
  })

  it('are not noted where there is no room for so many names', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`the-output-number-${i}`, 'x']))
    const { error, memory } = await runOnce({ far: { outputs: { ...outputs, data: () => many } } })
    expect([error, memory?.id, memory?.outputKeys?.length]).toEqual([undefined, 'e1', 100])
  })

  it('do not keep the id from being noted where the author fails to tell them', async () => {
    const broken = (): never => {
      throw new Error('a bug')
    }
    const { error, memory } = await runOnce({ far: { outputs: { ...outputs, data: broken } } })
    expect([error?.message, memory?.id]).toEqual(['a bug', 'e1'])
  })
})

describe('outputs', () => {
  it.each<[string, unknown, object, readonly unknown[], object]>([
    ['of a Secret are applied', undefined, dueMemory, [applied], { outputs: kept }],
    [
      'of AWS are kept there',
      target,
      dueMemory,
      [['keep', target, { user: 'x' }]],
      { outputs: 'vault', outputsAt: target },
    ],
    [
      'that stay there are kept there',
      target,
      { ...dueMemory, outputs: 'vault', outputsAt: target },
      [['keep', target, { user: 'x' }]],
      { outputsAt: target },
    ],
    [
      'that move are removed behind that',
      target,
      { ...dueMemory, outputs: 'vault', outputsAt: elsewhere },
      [
        ['keep', target, { user: 'x' }],
        ['remove', elsewhere],
      ],
      { outputsAt: target },
    ],
    [
      'that come back are removed behind that',
      undefined,
      { ...dueMemory, outputs: 'vault', outputsAt: elsewhere },
      [applied, ['remove', elsewhere]],
      { outputs: kept },
    ],
    [
      'that were on their way elsewhere are removed there',
      target,
      { ...dueMemory, outputs: 'vault', outputsAt: target, outputsAlso: elsewhere },
      [
        ['remove', elsewhere],
        ['keep', target, { user: 'x' }],
      ],
      { outputsAt: target },
    ],
  ])('%s', async (...[, to, memory, secrets, noted]) => {
    const told = await runOnce(given(to, { memory }))
    expect(told.secrets).toEqual(secrets)
    expect(told.memory).toMatchObject(noted)
    expect(told.memory?.outputsAt).toEqual(to)
    expect(told.memory).not.toHaveProperty('outputsAlso')
  })

  it('that move are known to be there before they are, and when they are; else nothing is made durable', async () => {
    expect((await runOnce(given(target, { memory: dueMemory }))).keeps).toBe(2)
    expect((await runOnce(given(target, { memory: { ...dueMemory, outputsAt: target } }))).keeps).toBe(0)
    expect((await runOnce(given(undefined, { memory: dueMemory }))).keeps).toBe(0)
    expect((await runOnce(given(undefined, { memory: { ...dueMemory, outputKeys: ['other'] } }))).keeps).toBe(1)
  })

  it.each<[string, unknown, object, Given['objects'], boolean]>([
    ['are as they were', undefined, { outputs: kept }, secret, false],
    ['are gone', undefined, { outputs: kept }, {}, true],
    ['were changed', undefined, { outputs: 'other' }, secret, true],
    ['were never kept', undefined, {}, {}, false],
    ['are in AWS', target, { outputs: 'vault', outputsAt: target }, {}, false],
    ['are to be elsewhere in AWS', target, { outputs: 'vault', outputsAt: elsewhere }, {}, true],
    ['are to be in AWS', target, { outputs: kept }, secret, true],
    ['are to be in a Secret', undefined, { outputs: 'vault', outputsAt: target }, secret, true],
  ])('that %s have it run before its period is over: %#', async (...[, to, noted, objects, is]) => {
    const { secrets } = await runOnce(given(to, { memory: { ...made, ...noted }, objects: objects ?? {} }))
    expect(secrets.length > 0).toBe(is)
  })

  it.each<[string, Given, readonly unknown[]]>([
    ['go with it', { memory: { ...made, outputsAt: target } }, [['remove', target]]],
    [
      'go with it from where they were on their way to, too',
      { memory: { ...made, outputsAt: target, outputsAlso: elsewhere } },
      [
        ['remove', target],
        ['remove', elsewhere],
      ],
    ],
    ['of a Secret go by themselves', { memory: made }, []],
    [
      'stay with an entity that is kept',
      { memory: { ...made, outputsAt: target }, annotations: { 'setpoint.dev/manage': 'create' } },
      [],
    ],
    ['of what never was go, too', { memory: { outputsAt: target } }, [['remove', target]]],
  ])('of an object that is deleted %s', async (_what, of, secrets) => {
    const told = await runOnce({ ...given(target, of), isDeleting: true })
    expect([told.secrets, told.outcome]).toEqual([secrets, { kind: 'done' }])
  })
})
