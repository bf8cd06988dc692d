import { describe, expect, it } from 'vitest'
import {
  decide,
  tokenOf,
  type Abilities,
  type Action,
  type Situation,
} from '../../../../shared/engine/external/decide.ts'
import type { Policy } from '../../../../shared/engine/external/policy.ts'

/** Single decisions, where the lives of external-lives.test.ts rarely or never pass. */

const abilities: Abilities = {
  finds: true,
  createsOncePerToken: false,
  periodMs: 60_000,
  assertsAlways: false,
  graceMs: 30_000,
}
const managed: Policy = { creates: true, updates: true, deletes: true, observesOnly: false }
const observed: Policy = { creates: false, updates: false, deletes: false, observesOnly: true }
const unasked = { ...abilities, finds: false }
const refusal = { digest: 'd', atMs: 0, reason: 'CreateRefused', message: 'no' }
const wait = { digest: 'd', untilMs: 2_000_000, reason: 'NotVisibleYet', message: 'not yet' }

interface Row {
  readonly because: string
  readonly given: Partial<Situation>
  readonly action: object
}

function decided(given: Partial<Situation>): Action {
  return decide({
    nowMs: 1_000_000,
    isDeleting: false,
    uid: 'u',
    digest: 'd',
    isRequested: false,
    memory: { round: 0 },
    policy: managed,
    abilities,
    ...given,
  })
}

describe('what is refused', () => {
  const rows: readonly Row[] = [
    {
      because: 'without a period it is never asked again by itself',
      given: { memory: { round: 0, refusal }, abilities: { ...abilities, periodMs: 0 } },
      action: { do: 'refuse', reason: 'CreateRefused' },
    },
    {
      because: 'its period is over',
      given: { memory: { round: 0, refusal } },
      action: { do: 'create' },
    },
    {
      because: 'its period is not over',
      given: { memory: { round: 0, refusal: { ...refusal, atMs: 990_000 } } },
      action: { do: 'refuse' },
    },
    {
      because: 'another declaration was refused',
      given: { memory: { round: 0, refusal: { ...refusal, atMs: 990_000, digest: 'other' } } },
      action: { do: 'create' },
    },
    { because: 'somebody asks', given: { memory: { round: 0, wait }, isRequested: true }, action: { do: 'create' } },
    { because: 'it waits', given: { memory: { round: 0, wait } }, action: { do: 'wait', untilMs: 2_000_000 } },
  ]
  it.each(rows)('or waits: $because', ({ given, action }) => {
    expect(decided(given)).toMatchObject(action)
  })
})

describe('where to look', () => {
  const adoption = { id: 'a', mode: 'match' } as const
  const intent = { atMs: 0 }
  const rows: readonly Row[] = [
    {
      because: 'what is only observed is looked for by its owner',
      given: { policy: observed },
      action: { do: 'find' },
    },
    {
      because: 'or must be named, where that cannot be',
      given: { policy: observed, abilities: unasked },
      action: { do: 'refuse', reason: 'NothingToObserve' },
    },
    {
      because: 'what is named is looked at',
      given: { policy: { ...managed, adoption } },
      action: { do: 'get', id: 'a' },
    },
    {
      because: 'what was adopted and is gone is not looked for again',
      given: { policy: { ...managed, adoption }, memory: { round: 1, lostId: 'a' } },
      action: { do: 'create', round: 1 },
    },
    {
      because: 'a person may have to say that there is nothing',
      given: { abilities: unasked, memory: { round: 3, intent } },
      action: { do: 'refuse', reason: 'CreateUnknown' },
    },
    {
      because: 'a person has said that there is nothing',
      given: {
        abilities: unasked,
        memory: { round: 3, intent },
        policy: { ...managed, createAgain: tokenOf('u', 3) },
      },
      action: { do: 'create', round: 4 },
    },
    {
      because: 'what a person said of another attempt counts for nothing',
      given: {
        abilities: unasked,
        memory: { round: 3, intent },
        policy: { ...managed, createAgain: tokenOf('u', 2) },
      },
      action: { do: 'refuse', reason: 'CreateUnknown' },
    },
  ]
  it.each(rows)('$because', ({ given, action }) => {
    expect(decided(given)).toMatchObject(action)
  })
})
