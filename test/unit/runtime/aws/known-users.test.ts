import { expect, it } from 'vitest'
import type { User } from '../../../../shared/ports/authenticator.ts'
import { createKnownUsers } from '../../../../shared/runtime/aws/known-users.ts'

type UserOf = ReturnType<typeof createKnownUsers>

const textOf = (name: string): string => JSON.stringify({ name, groups: [] })
const ask = async (userOf: UserOf, name: string): Promise<User | undefined> => userOf(textOf(name))

it('who asks again is the same user', async () => {
  const userOf = createKnownUsers()
  const alice = await ask(userOf, 'alice')
  expect(alice).toEqual({ name: 'alice', groups: [] })
  expect(await ask(userOf, 'alice')).toBe(alice)
  expect(await ask(userOf, 'bob')).not.toBe(alice)
})

it('whom the authorizer did not name is nobody', () => {
  const userOf = createKnownUsers()
  expect(userOf('null')).toBeUndefined()
})

it('a thousand users are known, and the one that came first is forgotten', async () => {
  const userOf = createKnownUsers()
  const first = await ask(userOf, 'first')
  const second = await ask(userOf, 'second')
  for (let i = 0; i < 999; i++) await ask(userOf, `user-${i}`)
  expect(await ask(userOf, 'second')).toBe(second)
  expect(await ask(userOf, 'first')).not.toBe(first)
})
