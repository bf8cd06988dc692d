import { expect, it } from 'vitest'
import { createKnownUsers } from '../../../../shared/runtime/aws/known-users.ts'

const textOf = (name: string): string => JSON.stringify({ name, groups: [] })

it('who asks again is the same user', () => {
  const userOf = createKnownUsers()
  expect(userOf(textOf('alice'))).toEqual({ name: 'alice', groups: [] })
  expect(userOf(textOf('alice'))).toBe(userOf(textOf('alice')))
  expect(userOf(textOf('bob'))).not.toBe(userOf(textOf('alice')))
})

it('whom the authorizer did not name is nobody', () => {
  const userOf = createKnownUsers()
  expect([userOf('null'), userOf(undefined)]).toEqual([undefined, undefined])
})

it('a thousand users are known, and the one that came first is forgotten', () => {
  const userOf = createKnownUsers()
  const first = userOf(textOf('first'))
  const second = userOf(textOf('second'))
  for (let i = 0; i < 999; i++) userOf(textOf(`user-${i}`))
  expect(userOf(textOf('second'))).toBe(second)
  expect(userOf(textOf('first'))).not.toBe(first)
})
