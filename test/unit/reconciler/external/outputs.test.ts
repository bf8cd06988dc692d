import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  defineExternal,
  defineKind,
  externalStatus,
  OperatingError,
  Secret,
  secretTarget,
} from '../../../../shared/index.ts'
import { createTestEnv, createTestVault, type TestEnv, type TestVault } from '../../../../shared/testing/test-env.ts'

const Account = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Account',
  spec: z.object({ size: z.int(), to: secretTarget.optional(), secretName: z.string().optional() }),
  status: externalStatus,
})

const password = 'made-by-the-far-side'

interface World {
  readonly env: TestEnv
  readonly vault: TestVault
  readonly accounts: Map<string, { id: string; size: number; owner: string }>
}

async function start({ isToldOnce = false, isShownAtOnce = true, rotates = false } = {}): Promise<World> {
  let looks = 0
  const accounts: World['accounts'] = new Map()
  const vault = createTestVault()
  const reconciler = defineExternal(Account, {
    vault: { writes: [{ secretsManager: 'shop/{namespace}/' }, { parameter: 'shop/{namespace}/' }] },
    connect: async () => ({}),
    declared: ({ spec: { size } }, { owner: { uid } }) => ({ size, owner: uid }),
    api: {
      get: async (_, id) => accounts.get(id),
      find: async (_, { uid }) => [...accounts.values()].find(({ owner }) => owner === uid),
      create: async (_, declared) => {
        const made = { id: `id-${accounts.size + 1}`, ...(declared as { size: number; owner: string }) }
        accounts.set(made.id, made)
        return { ...made, isNew: true }
      },
      update: async (_, id, declared) => {
        const isOther = accounts.get(id)?.size !== declared['size']
        const found = { ...accounts.get(id), ...declared, id } as { id: string; size: number; owner: string }
        accounts.set(id, found)
        return rotates && isOther ? { ...found, isNew: true } : found
      },
      delete: async (_, id) => void accounts.delete(id),
      idOf: ({ id }) => String(id),
      ownerOf: ({ owner }) => String(owner),
    },
    shown: () => {
      if (looks++ === 0 && !isShownAtOnce) throw new Error('not known yet')
      return {}
    },
    outputs: {
      name: ({ metadata: { name }, spec: { secretName = `${name}-login` } }) => secretName,
      data: ({ id, size, isNew }) => ({
        password: isToldOnce && isNew !== true ? undefined : rotates ? `${password}-${String(size)}` : password,
        user: String(id),
      }),
      ...(isToldOnce && { toldOnce: ['password'] }),
      to: ({ spec }) => spec.to,
    },
  })
  return { env: await createTestEnv({ reconcilers: [reconciler], vault }), vault, accounts }
}

const storeIsAway = new OperatingError('UNAVAILABLE', 'the disk is busy')
const json = JSON.stringify({ password, user: 'id-1' })
const secret = { secretsManager: { name: 'shop/default/a' } }
const parameter = { parameter: { name: '/shop/default/a', key: 'password' } }

async function apply({ env }: World, to?: object): Promise<void> {
  await env.apply(Account, { metadata: { name: 'a' }, spec: { size: 1, ...(to && { to }) } })
  await env.settle()
}

describe('outputs of an external', () => {
  it('are a Secret, or in AWS, as the object says; they move when it says otherwise', async () => {
    const world = await start()
    await using env = world.env
    await apply(world, secret)
    expect([...world.vault.texts]).toEqual([['secretsManager:shop/default/a', json]])
    expect(await env.get(Secret, 'a-login')).toBeUndefined()
    await apply(world, parameter)
    expect([...world.vault.texts]).toEqual([['parameter:shop/default/a', password]])
    await apply(world)
    expect([...world.vault.texts]).toEqual([])
    expect(await env.get(Secret, 'a-login')).toBeDefined()
  })

  it('are put back by the next sync, and written only when they differ', async () => {
    const world = await start()
    await using env = world.env
    await apply(world, secret)
    await env.advance('5m')
    expect(world.vault.writes).toBe(1)
    const [found] = world.accounts.values()
    if (found) world.accounts.delete(found.id)
    await env.advance('5m')
    expect([...world.vault.texts.values()]).toEqual([json])
  })

  it('that are told only once are kept, where they are and where they move to', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const kept = async () => (await env.get(Secret, 'a-login'))?.data
    const login = { password: btoa(password), user: btoa('id-1') }
    await apply(world)
    expect(await kept()).toEqual(login)
    await env.advance('5m')
    await env.crash()
    await env.patch(Account, 'a', { spec: { size: 2 } })
    await env.advance('5m')
    expect(await kept()).toEqual(login)
    await apply(world, secret)
    await env.advance('5m')
    expect([...world.vault.texts]).toEqual([['secretsManager:shop/default/a', json]])
    expect(await kept()).toBeUndefined()
    await apply(world, parameter)
    await env.advance('5m')
    expect([...world.vault.texts]).toEqual([['parameter:shop/default/a', password]])
    await apply(world)
    await env.advance('5m')
    expect(await kept()).toEqual(login)
    world.accounts.clear()
    await env.advance('5m')
    expect(await kept()).toEqual(login)
  })

  it.each<[string, 'store.create' | 'store.replace' | undefined, string]>([
    ['by a process that lives', undefined, ''],
    ['by one that ends at the write of the new one', 'store.create', '"renamed"'],
    ['by one that ends before it is noted', 'store.replace', '"outputsIn":"renamed"'],
  ])('that are told only once go along when their Secret gets another name, %s', async (_who, point, text) => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const login = { password: btoa(password), user: btoa('id-1') }
    const names = async () => (await env.list(Secret)).map(({ metadata, data }) => [metadata.name, data])
    await apply(world)
    let isHit = point === undefined
    if (point !== undefined)
      env.faults.once(point, { kind: 'crash' }, ([stored]) => (isHit ||= JSON.stringify(stored).includes(text)))
    await env.patch(Account, 'a', { spec: { secretName: 'renamed' } })
    await env.advance('5m')
    expect([isHit, await names()]).toEqual([true, [['renamed', login]]])
    await env.patch(Account, 'a', { spec: { secretName: 'elsewhere', to: secret } })
    await env.advance('5m')
    expect([await names(), ...world.vault.texts]).toEqual([[], ['secretsManager:shop/default/a', json]])
    await env.patch(Account, 'a', { spec: { secretName: 'back', to: null } })
    await env.advance('5m')
    expect([world.vault.texts.size, await names()]).toEqual([0, [['back', login]]])
  })

  it('that are told only once stay where they are while their Secret cannot be where it is to be', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const login = { password: btoa(password), user: btoa('id-1') }
    await apply(world)
    env.faults.always('store.create', { kind: 'error', error: storeIsAway }, ([stored]) =>
      JSON.stringify(stored).includes('"refused"'),
    )
    await env.patch(Account, 'a', { spec: { secretName: 'refused' } })
    await env.advance('5m')
    expect((await env.get(Secret, 'a-login'))?.data).toEqual(login)
    await env.patch(Account, 'a', { spec: { secretName: 'renamed' } })
    await env.advance('5m')
    expect((await env.get(Secret, 'renamed'))?.data).toEqual(login)
    expect(await env.get(Secret, 'a-login')).toBeUndefined()
  })

  const theirs = { secretsManager: { name: 'shop/default/theirs' } }

  it('that are told only once stay where they are until they are where they move to, and come from nowhere else', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const { vault } = world
    vault.put({ secretsManager: 'shop/default/theirs' }, '{"password":"theirs"}')
    await apply(world)
    for (const [to, ours] of [[undefined, ''] as const, [secret, 'secretsManager:shop/default/a'] as const]) {
      await apply(world, theirs)
      await env.advance('5m')
      expect(JSON.stringify(await env.get(Account, 'a'))).toContain('is not of this object: to hand it over')
      if (ours !== '') expect(vault.texts.get(ours)).toBe(json)
      await apply(world, to)
      await env.advance('5m')
      if (to === undefined) {
        expect((await env.get(Secret, 'a-login'))?.data).toEqual({ password: btoa(password), user: btoa('id-1') })
        await apply(world, secret)
      } else expect(vault.texts.get(ours)).toBe(json)
    }
    await apply(world, parameter)
    expect(Object.fromEntries(vault.texts)).toEqual({
      'secretsManager:shop/default/theirs': '{"password":"theirs"}',
      'parameter:shop/default/a': password,
    })
  })

  it.each([
    ['first', 'write'],
    ['move', 'write'],
    ['move', 'remove'],
  ] as const)(
    'that are told only once are lost and left nowhere by a process that ends in a %s %s',
    async (when, verb) => {
      const world = await start({ isToldOnce: true })
      await using env = world.env
      if (when === 'move') await apply(world, secret)
      const work = world.vault[verb].bind(world.vault) as (...given: readonly unknown[]) => Promise<unknown>
      let isCrashed = false
      Object.assign(world.vault, {
        [verb]: async (...given: readonly unknown[]) => {
          const result = await work(...given)
          if (isCrashed) return result
          isCrashed = true
          await env.crash()
          return result
        },
      })
      await apply(world, parameter)
      await env.advance('5m')
      expect([isCrashed, ...world.vault.texts]).toEqual([true, ['parameter:shop/default/a', password]])
      await env.delete(Account, 'a')
      await env.advance('10m')
      expect([world.vault.texts.size, world.accounts.size]).toEqual([0, 0])
    },
  )

  it('that are told only once and could not be kept say so, until another entity is made', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const { write } = world.vault
    const away = async (): Promise<never> => {
      throw new OperatingError('UNAVAILABLE', 'no answer')
    }
    Object.assign(world.vault, { write: away })
    await apply(world, secret)
    Object.assign(world.vault, { write })
    await env.advance('5m')
    const why = 'password is told no more, and cannot be read where it is kept: there is no secret shop/default/a in'
    expect(JSON.stringify(await env.get(Account, 'a'))).toContain(why)
    world.accounts.clear()
    await env.advance('5m')
    expect(world.vault.texts.get('secretsManager:shop/default/a')).toContain(password)
    expect(await env.get(Account, 'a')).toMatchObject({ status: { conditions: [{ status: 'True' }, {}] } })
  })

  it.each<[string, 'store.create' | 'store.replace', Parameters<TestEnv['faults']['once']>[1]]>([
    ['a Secret that is not written', 'store.create', { kind: 'error', error: storeIsAway }],
    ['a note that is not written', 'store.replace', { kind: 'error', error: storeIsAway }],
    ['a process that ends before the Secret', 'store.create', { kind: 'crash' }],
    ['a process that ends before the note', 'store.replace', { kind: 'crash' }],
  ])('that are told only once are said to be lost by %s, until another entity is made', async (...[, point, fault]) => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    let isHit = false
    env.faults.once(point, fault, ([stored]) => {
      const text = JSON.stringify(stored)
      isHit = point === 'store.create' ? text.includes('a-login') : text.includes('"outputKeys"')
      return isHit
    })
    await apply(world)
    await env.advance('5m')
    const lost = 'password is told no more, and cannot be read where it is kept: it was never written; if it is lost'
    expect(isHit).toBe(true)
    expect(JSON.stringify(await env.get(Account, 'a'))).toContain(lost)
    expect(await env.get(Secret, 'a-login')).toBeUndefined()
    world.accounts.clear()
    await env.advance('5m')
    expect((await env.get(Secret, 'a-login'))?.data).toEqual({ password: btoa(password), user: btoa('id-1') })
    expect(await env.get(Account, 'a')).toMatchObject({ status: { conditions: [{ status: 'True' }, {}] } })
  })

  it.each([
    ['a process that ends', 1, { kind: 'crash' }],
    ['a disk that takes nothing', 3, { kind: 'error', error: storeIsAway }],
  ] as const)('that only the creation told are said to be lost by %s behind it', async (_what, times, fault) => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const refuse = (left: number): void =>
      env.faults.once('store.replace', fault, () => {
        const isMade = world.accounts.size > 0
        if (isMade && left > 1) refuse(left - 1)
        return isMade
      })
    refuse(times)
    await apply(world)
    await env.advance('5m')
    const lost = 'password is told no more, and cannot be read where it is kept: it was never written; if it is lost'
    const message = expect.stringContaining(lost)
    const conditions = [
      { type: 'Ready', message },
      { type: 'Synced', status: 'False', message },
    ]
    expect((await env.get(Account, 'a'))?.status).toMatchObject({ id: [...world.accounts.keys()][0], conditions })
    world.accounts.clear()
    await env.advance('30m')
    expect((await env.get(Secret, 'a-login'))?.data).toEqual({ password: btoa(password), user: btoa('id-1') })
  })

  it('that an update tells anew are kept, or said to be lost by a write that fails', async () => {
    const world = await start({ isToldOnce: true, rotates: true })
    await using env = world.env
    const login = async () => (await env.get(Secret, 'a-login'))?.data
    await apply(world)
    await env.patch(Account, 'a', { spec: { size: 2 } })
    await env.advance('5m')
    expect(await login()).toEqual({ password: btoa(`${password}-2`), user: btoa('id-1') })
    const error = { kind: 'error', error: storeIsAway } as const
    env.faults.once('store.replace', error, ([stored]) => JSON.stringify(stored).includes(btoa(`${password}-3`)))
    await env.patch(Account, 'a', { spec: { size: 3 } })
    await env.advance('5m')
    expect(JSON.stringify(await env.get(Account, 'a'))).toContain('password is told no more')
    expect(await login()).toEqual({ password: btoa(`${password}-2`), user: btoa('id-1') })
    await env.patch(Secret, 'a-login', { stringData: { password: 'by hand' } })
    await env.advance('5m')
    expect(await login()).toEqual({ password: btoa('by hand'), user: btoa('id-1') })
    expect(await env.get(Account, 'a')).toMatchObject({ status: { conditions: [{ status: 'True' }, {}] } })
  })

  it('that are told only once are kept though the answer to their write is lost', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const unknown = { kind: 'unknown', error: storeIsAway } as const
    env.faults.once('store.create', unknown, ([stored]) => JSON.stringify(stored).includes('a-login'))
    await apply(world)
    await env.advance('5m')
    expect((await env.get(Secret, 'a-login'))?.data).toEqual({ password: btoa(password), user: btoa('id-1') })
    await env.delete(Secret, 'a-login')
    await env.advance('5m')
    expect((await env.get(Secret, 'a-login'))?.data).toEqual({ user: btoa('id-1') })
  })

  it('that are told only once and were lost may be put into the Secret by hand', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    const error = { kind: 'error', error: storeIsAway } as const
    env.faults.once('store.create', error, ([stored]) => JSON.stringify(stored).includes('a-login'))
    await apply(world)
    await env.apply(Secret, { metadata: { name: 'a-login' }, stringData: { password: 'another' } })
    await env.advance('5m')
    expect((await env.get(Secret, 'a-login'))?.data).toEqual({ password: btoa('another'), user: btoa('id-1') })
  })

  it('that move and are no more wanted there are removed from both places', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    await apply(world, secret)
    const keep = world.vault.write.bind(world.vault)
    Object.assign(world.vault, {
      write: async (...given: Parameters<typeof keep>) => {
        await keep(...given)
        throw new OperatingError('UNAVAILABLE', 'no answer')
      },
    })
    await apply(world, parameter)
    Object.assign(world.vault, { write: keep })
    await apply(world, { parameter: { name: '/shop/default/b' } })
    await env.advance('5m')
    expect([...world.vault.texts]).toEqual([['parameter:shop/default/b', json]])
  })

  it('that are told only once are kept though what comes after them fails, or the process dies behind them', async () => {
    for (const end of ['failure', 'crash'] as const) {
      const world = await start({ isToldOnce: true, isShownAtOnce: end === 'crash' })
      await using env = world.env
      if (end === 'crash')
        env.faults.once('store.replace', { kind: 'crash' }, ([stored]) => JSON.stringify(stored).includes('"Synced"'))
      await apply(world)
      await env.advance('10m')
      expect((await env.get(Secret, 'a-login'))?.data).toEqual({ password: btoa(password), user: btoa('id-1') })
      expect(await env.get(Account, 'a')).toMatchObject({
        status: { id: 'id-1', conditions: [{ status: 'True' }, {}] },
      })
    }
  })

  it('that are told only once and were taken away are not, and the others are', async () => {
    const world = await start({ isToldOnce: true })
    await using env = world.env
    await apply(world)
    await env.delete(Secret, 'a-login')
    await env.advance('5m')
    expect((await env.get(Secret, 'a-login'))?.data).toEqual({ user: btoa('id-1') })
  })

  it.each(['secret-text', '"secret-text"', '{"secret-text'])(
    'that are told only once fail the run where %s is kept',
    async (text) => {
      const world = await start({ isToldOnce: true })
      await using env = world.env
      await apply(world, secret)
      world.vault.put({ secretsManager: 'shop/default/a' }, text)
      await env.advance('2m')
      const told = JSON.stringify(await env.get(Account, 'a'))
      expect(told).toContain('what is kept in shop/default/a is no JSON any more')
      expect(told).not.toContain('secret-text')
      expect(world.vault.writes).toBe(1)
    },
  )

  it('go with the entity, and stay with one that is kept', async () => {
    for (const [annotations, left] of [
      [{}, 0],
      [{ 'setpoint.dev/deletion-policy': 'Retain' }, 1],
    ] as const) {
      const world = await start()
      await using env = world.env
      await env.apply(Account, { metadata: { name: 'a', annotations }, spec: { size: 1, to: secret } })
      await env.settle()
      await env.delete(Account, 'a')
      await env.advance('5m')
      expect(await env.get(Account, 'a')).toBeUndefined()
      expect([world.vault.texts.size, world.accounts.size]).toEqual([left, left])
    }
  })

  it('are not left behind by a process that ends in the middle of their write', async () => {
    const world = await start()
    await using env = world.env
    const write = world.vault.write.bind(world.vault)
    let isCrashed = false
    Object.assign(world.vault, {
      write: async (...given: Parameters<typeof write>) => {
        const result = await write(...given)
        if (isCrashed) return result
        isCrashed = true
        await env.crash()
        return result
      },
    })
    await env.apply(Account, { metadata: { name: 'a' }, spec: { size: 1, to: secret } })
    await env.settle()
    await env.delete(Account, 'a')
    await env.advance('10m')
    expect(isCrashed).toBe(true)
    expect(await env.get(Account, 'a')).toBeUndefined()
    expect([world.vault.texts.size, world.accounts.size]).toEqual([0, 0])
  })
})
