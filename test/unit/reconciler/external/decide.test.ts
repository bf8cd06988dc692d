import { describe, expect, it } from 'vitest'
import {
  decide,
  tokenOf,
  type Abilities,
  type Action,
  type SyncSituation,
} from '../../../../shared/reconciler/external/decide.ts'
import type { Policy } from '../../../../shared/reconciler/external/policy.ts'

/**
 * Single decisions; that they end well together, whatever comes, is for the lives of external-lives.test.ts to show.
 */

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
  readonly given: Partial<SyncSituation>
  readonly action: object
}

function decided(given: Partial<SyncSituation>): Action {
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
    {
      because: 'its time is over',
      given: { memory: { round: 0, wait: { ...wait, untilMs: 1_000_000 } } },
      action: { do: 'create' },
    },
    {
      because: 'another declaration was to wait',
      given: { memory: { round: 0, wait: { ...wait, digest: 'other' } } },
      action: { do: 'create' },
    },
  ]
  it.each(rows)('or waits: $because', ({ given, action }) => {
    expect(decided(given)).toMatchObject(action)
  })
})

describe('a look', () => {
  const memory = { round: 0, id: 'x', digest: 'd', syncedAtMs: 970_000 }
  const rows: readonly Row[] = [
    { because: 'not while the period lasts', given: { memory }, action: { do: 'rest', untilMs: 1_030_000 } },
    {
      because: 'not ever, without a period',
      given: { memory, abilities: { ...abilities, periodMs: 0 } },
      action: { do: 'rest', untilMs: Infinity },
    },
    { because: 'after it', given: { memory: { ...memory, syncedAtMs: 900_000 } }, action: { do: 'get', id: 'x' } },
    { because: 'at its end', given: { memory: { ...memory, syncedAtMs: 940_000 } }, action: { do: 'get', id: 'x' } },
    { because: 'after an edit', given: { memory: { ...memory, digest: 'old' } }, action: { do: 'get', id: 'x' } },
    { because: 'on request', given: { memory, isRequested: true }, action: { do: 'get', id: 'x' } },
    {
      because: 'if the last edit, taken back since, was refused',
      given: { memory: { ...memory, refusal: { ...refusal, digest: 'other' } } },
      action: { do: 'get', id: 'x' },
    },
    {
      because: 'not at what was lost',
      given: { memory: { round: 1, digest: 'd', syncedAtMs: 970_000 } },
      action: { do: 'create', round: 1 },
    },
  ]
  it.each(rows)('$because', ({ given, action }) => {
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
      because: 'what may have been made is looked for',
      given: { memory: { round: 3, intent } },
      action: { do: 'find' },
    },
    {
      because: 'or is made again, where that makes no second one',
      given: { abilities: { ...unasked, createsOncePerToken: true }, memory: { round: 3, intent } },
      action: { do: 'create', round: 3 },
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

describe('what is not there', () => {
  const seen = { is: 'absent' } as const
  const adoption = { id: 'a', mode: 'match' } as const
  const made = { round: 2, id: 'x', createdAtMs: 980_000 }
  const begun = { round: 2, intent: { atMs: 980_000 } }
  const rows: readonly Row[] = [
    {
      because: 'it was made a moment ago',
      given: { memory: made },
      action: { do: 'wait', untilMs: 1_010_000, reason: 'NotVisibleYet' },
    },
    {
      because: 'it was made long ago',
      given: { memory: { ...made, createdAtMs: 900_000 } },
      action: { do: 'forget', id: 'x' },
    },
    {
      because: 'it was made just so long ago as it may take',
      given: { memory: { ...made, createdAtMs: 970_000 } },
      action: { do: 'forget', id: 'x' },
    },
    {
      because: 'its create was lost just so long ago as it may take',
      given: { memory: { round: 2, intent: { atMs: 970_000 } } },
      action: { do: 'create', round: 2 },
    },
    {
      because: 'nobody may make another one',
      given: { memory: { ...made, createdAtMs: 900_000 }, policy: { ...managed, creates: false } },
      action: { do: 'wait', untilMs: 1_060_000, reason: 'Absent' },
    },
    {
      because: 'nobody may make it, and there is no period',
      given: { policy: { ...managed, creates: false }, abilities: { ...abilities, periodMs: 0 } },
      action: { do: 'wait', untilMs: Infinity, reason: 'Absent' },
    },
    {
      because: 'its create may still be on its way',
      given: { memory: begun },
      action: { do: 'wait', untilMs: 1_010_000, reason: 'CreateUnknown' },
    },
    {
      because: 'its create may come twice without harm',
      given: { memory: begun, abilities: { ...abilities, createsOncePerToken: true } },
      action: { do: 'create', round: 2 },
    },
    {
      because: 'its create was lost',
      given: { memory: { round: 2, intent: { atMs: 900_000 } } },
      action: { do: 'create', round: 2 },
    },
    {
      because: 'it never was',
      given: { memory: { round: 2 } },
      action: { do: 'create', round: 2 },
    },
    {
      because: 'something else has its name',
      given: { conflict: 'taken' },
      action: { do: 'refuse', reason: 'NameTaken', message: 'taken' },
    },
    {
      because: 'it was to be adopted',
      given: { policy: { ...managed, adoption } },
      action: { do: 'refuse', reason: 'NothingToAdopt', message: 'there is no a' },
    },
    {
      because: 'it is only observed',
      given: { policy: { ...observed, adoption } },
      action: { do: 'wait', reason: 'Absent' },
    },
    {
      because: 'its create was lost, and a person has named another one',
      given: { memory: { round: 2, intent: { atMs: 970_000 } }, policy: { ...managed, adoption } },
      action: { do: 'dropIntent' },
    },
    {
      because: 'its create was lost, and a person has named another one, to be observed',
      given: { memory: { round: 2, intent: { atMs: 900_000 } }, policy: { ...observed, adoption } },
      action: { do: 'dropIntent' },
    },
    {
      because: 'its create may still be on its way, and a person has named another one',
      given: {
        memory: begun,
        policy: { ...managed, adoption },
        abilities: { ...abilities, createsOncePerToken: true },
      },
      action: { do: 'wait', untilMs: 1_010_000, reason: 'CreateUnknown' },
    },
    {
      because: 'its create was lost, and the one that a person has named is gone',
      given: { memory: { round: 2, intent: { atMs: 900_000 }, lostId: 'a' }, policy: { ...managed, adoption } },
      action: { do: 'create', round: 2 },
    },
    {
      because: 'its create was lost, and nobody may make another one',
      given: { memory: { round: 2, intent: { atMs: 900_000 } }, policy: { ...managed, creates: false } },
      action: { do: 'wait', reason: 'Absent' },
    },
    {
      because: 'its create was lost, nobody can look for it, and what a person has named is not there',
      given: { memory: { round: 2, intent: { atMs: 900_000 } }, policy: { ...managed, adoption }, abilities: unasked },
      action: { do: 'refuse', reason: 'NothingToAdopt' },
    },
  ]
  it.each(rows)('$because', ({ given, action }) => {
    expect(decided({ seen, ...given })).toEqual(expect.objectContaining(action))
  })
})

describe('what is there', () => {
  const memory = { round: 0, id: 'x', digest: 'd' }
  const seen = { is: 'present', id: 'x', owner: 'u', differs: [] } as const
  const other = { ...seen, differs: ['size'] }
  const stranger = { is: 'present', id: 'a', differs: [] } as const
  const match = { ...managed, adoption: { id: 'a', mode: 'match' } } as const
  const override = { ...managed, adoption: { id: 'a', mode: 'override' } } as const
  const takeover = { ...managed, adoption: { id: 'a', mode: 'takeover' } } as const
  const marked = { ...stranger, owner: 'v', differs: ['size', 'owner'] }
  const begun = { round: 0, intent: { atMs: 900_000 } }
  const rows: readonly Row[] = [
    { because: 'as declared', given: { memory, seen }, action: { do: 'settle', differs: [] } },
    { because: 'with drift', given: { memory, seen: other }, action: { do: 'update', drift: ['size'] } },
    {
      because: 'after an edit of the declaration, which is no drift',
      given: { memory: { ...memory, digest: 'old' }, seen: other },
      action: { do: 'update', drift: [] },
    },
    { because: 'asked for', given: { memory, seen, isRequested: true }, action: { do: 'update', drift: [] } },
    {
      because: 'asserted in each period',
      given: { memory, seen, abilities: { ...abilities, assertsAlways: true } },
      action: { do: 'update', drift: [] },
    },
    {
      because: 'asserted by this run already',
      given: { memory, seen: other, has: 'asserted', isRequested: true },
      action: { do: 'settle', differs: [] },
    },
    {
      because: 'not to be changed',
      given: { memory, seen: other, policy: { ...managed, updates: false } },
      action: { do: 'settle', differs: ['size'] },
    },
    {
      because: "another object's",
      given: { memory, seen: { ...seen, owner: 'v' } },
      action: { do: 'refuse', reason: 'OwnedByAnother' },
    },
    { because: 'found again', given: { seen }, action: { do: 'take', id: 'x', how: 'found' } },
    {
      because: 'found again, though a person has named another one',
      given: { memory: begun, seen, policy: override },
      action: { do: 'take', id: 'x', how: 'found' },
    },
    {
      because: 'of its name, and not the one that a person has named',
      given: { memory: begun, seen: { ...stranger, id: 'y' }, policy: override },
      action: { do: 'dropIntent' },
    },
    {
      because: "of its name, another object's, and not the one that a person has named",
      given: { memory: begun, seen: { ...marked, id: 'y' }, policy: takeover },
      action: { do: 'dropIntent' },
    },
    {
      because: 'of its name, and the one that a person has named',
      given: { memory: begun, seen: stranger, policy: override },
      action: { do: 'take', id: 'a', how: 'override' },
    },
    {
      because: 'of its name, and nobody has named another one',
      given: { memory: begun, seen: { ...stranger, id: 'y' } },
      action: { do: 'refuse', reason: 'NameTaken' },
    },
    {
      because: 'named otherwise than by its id',
      given: { seen: { ...stranger, id: 'y' }, policy: override },
      action: { do: 'take', id: 'y', how: 'override' },
    },
    {
      because: 'named otherwise than by its id, after a create that nobody can look for',
      given: { memory: begun, seen: { ...stranger, id: 'y' }, policy: override, abilities: unasked },
      action: { do: 'take', id: 'y', how: 'override' },
    },
    { because: 'of its name, by chance', given: { seen: stranger }, action: { do: 'refuse', reason: 'NameTaken' } },
    { because: 'as it is adopted', given: { seen: stranger, policy: match }, action: { do: 'take', how: 'match' } },
    {
      because: 'otherwise than it is adopted',
      given: { seen: { ...stranger, differs: ['size'] }, policy: match },
      action: { do: 'refuse', reason: 'AdoptionDiffers' },
    },
    {
      because: 'otherwise, and to be overridden',
      given: { seen: { ...stranger, differs: ['size'] }, policy: override },
      action: { do: 'take', how: 'override' },
    },
    {
      because: "another object's, and to be overridden",
      given: { seen: marked, policy: override },
      action: { do: 'refuse', reason: 'OwnedByAnother' },
    },
    {
      because: "another object's, and to be taken over",
      given: { seen: marked, policy: takeover },
      action: { do: 'take', how: 'takeover', from: 'v' },
    },
    {
      because: "nobody's, and to be taken over",
      given: { seen: { ...stranger, differs: ['size'] }, policy: takeover },
      action: { do: 'take', how: 'takeover' },
    },
    {
      because: 'taken over, and not marked yet',
      given: { memory: { round: 0, id: 'a', takenFrom: 'v' }, seen: marked, policy: takeover },
      action: { do: 'update', id: 'a' },
    },
    {
      because: 'taken over, but by another one since',
      given: { memory: { round: 0, id: 'a', takenFrom: 'v' }, seen: { ...marked, owner: 'w' }, policy: takeover },
      action: { do: 'refuse', reason: 'OwnedByAnother' },
    },
    {
      because: 'taken over and marked, and taken back since',
      given: { memory: { ...memory, id: 'a', adopted: 'takeover' }, seen: marked, policy: takeover },
      action: { do: 'refuse', reason: 'OwnedByAnother' },
    },
    {
      because: 'to be taken over, of an object that has another one',
      given: { memory, seen: { ...seen, owner: 'v' }, policy: takeover },
      action: { do: 'refuse', reason: 'OwnedByAnother' },
    },
  ]
  it.each(rows)('$because', ({ given, action }) => {
    expect(decided(given)).toMatchObject(action)
  })
})

describe('deletion', () => {
  const made = { round: 0, id: 'x', createdAtMs: 900_000 }
  const begun = { round: 0, intent: { atMs: 900_000 } }
  const own = { is: 'present', id: 'x', owner: 'u', differs: [] } as const
  const absent = { is: 'absent' } as const
  const rows: readonly Row[] = [
    { because: 'of what never was', given: {}, action: { do: 'release' } },
    {
      because: 'looks whether it is gone',
      given: { memory: { ...made, deletedAtMs: 1_000_000 }, has: 'deleted' },
      action: { do: 'get', id: 'x' },
    },
    {
      because: 'of what is gone, though it was made a moment ago',
      given: { memory: { ...made, createdAtMs: 999_000, deletedAtMs: 999_999 }, seen: absent, has: 'deleted' },
      action: { do: 'release' },
    },
    {
      because: 'of what is still there waits',
      given: { memory: { ...made, deletedAtMs: 1_000_000 }, seen: own, has: 'deleted' },
      action: { do: 'wait', untilMs: 1_005_000, reason: 'StillThere' },
    },
    {
      because: 'is not sent again at once',
      given: { memory: { ...made, deletedAtMs: 990_000 }, seen: own },
      action: { do: 'wait', untilMs: 1_010_000, reason: 'StillThere' },
    },
    {
      because: 'is sent again when it takes long',
      given: { memory: { ...made, deletedAtMs: 970_000 }, seen: own },
      action: { do: 'delete', id: 'x' },
    },
    {
      because: 'that takes very long is looked at every minute',
      given: { memory: { ...made, deletedAtMs: 100_000 }, seen: own, has: 'deleted' },
      action: { do: 'wait', untilMs: 1_060_000, reason: 'StillThere' },
    },
    {
      because: 'of what another one has by now leaves it',
      given: { memory: { ...made, deletedAtMs: 990_000 }, seen: { ...own, owner: 'v' } },
      action: { do: 'release', left: { reason: 'OwnedByAnother' } },
    },
    {
      because: 'of what is to stay',
      given: { memory: made, policy: { ...managed, deletes: false } },
      action: { do: 'release', left: { reason: 'Kept' } },
    },
    { because: 'looks first', given: { memory: made }, action: { do: 'get', id: 'x' } },
    { because: 'looks for what may have been made', given: { memory: begun }, action: { do: 'find' } },
    { because: 'of its own', given: { memory: made, seen: own }, action: { do: 'delete', id: 'x' } },
    {
      because: 'of what nobody marks',
      given: { memory: made, seen: { is: 'present', id: 'x', differs: [] } },
      action: { do: 'delete', id: 'x' },
    },
    {
      because: "of another object's",
      given: { memory: made, seen: { ...own, owner: 'v' } },
      action: { do: 'release', left: { reason: 'OwnedByAnother' } },
    },
    {
      because: 'of what a create left that was lost',
      given: { memory: begun, seen: own },
      action: { do: 'delete', id: 'x' },
    },
    {
      because: 'of what has its name by chance leaves it',
      given: { memory: begun, seen: { is: 'present', id: 'x', differs: [] } },
      action: { do: 'release', left: { reason: 'NameTaken' } },
    },
    {
      because: 'of what has its name by chance looks again while its own may not be seen yet',
      given: { memory: { round: 0, intent: { atMs: 980_000 } }, seen: { is: 'present', id: 'x', differs: [] } },
      action: { do: 'wait', untilMs: 1_010_000, reason: 'NotVisibleYet' },
    },
    {
      because: 'of what has its name by chance leaves it though it was to be adopted',
      given: {
        memory: begun,
        policy: { ...managed, adoption: { id: 'x', mode: 'override' } },
        seen: { is: 'present', id: 'x', differs: [] },
      },
      action: { do: 'release', left: { reason: 'NameTaken' } },
    },
    {
      because: 'of what is not the one that it remembers leaves it',
      given: { memory: { ...made, createdAtMs: 999_000 }, seen: { is: 'present', id: 'y', differs: [] } },
      action: { do: 'release', left: { reason: 'NameTaken' } },
    },
    { because: 'of what is gone', given: { memory: made, seen: absent }, action: { do: 'release' } },
    {
      because: 'of what may not be seen yet',
      given: { memory: { ...made, createdAtMs: 980_000 }, seen: absent },
      action: { do: 'wait', untilMs: 1_010_000 },
    },
    {
      because: 'of what was made just so long ago as it may take',
      given: { memory: { ...made, createdAtMs: 970_000 }, seen: absent },
      action: { do: 'release' },
    },
    {
      because: 'of what may still be made',
      given: { memory: { round: 0, intent: { atMs: 980_000 } }, seen: absent },
      action: { do: 'wait', untilMs: 1_010_000 },
    },
    {
      because: 'of what nobody can look for',
      given: { memory: begun, abilities: unasked },
      action: { do: 'refuse', reason: 'CreateUnknown' },
    },
    {
      because: 'of what a person has looked for',
      given: { memory: begun, abilities: unasked, policy: { ...managed, createAgain: tokenOf('u', 0) } },
      action: { do: 'release' },
    },
  ]
  it.each(rows)('$because', ({ given, action }) => {
    expect(decided({ isDeleting: true, ...given })).toMatchObject(action)
  })
})

describe('a change that the budget did not admit', () => {
  const made = { round: 1, id: 'x', digest: 'old' }
  const update = { do: 'update', id: 'x', drift: ['size'] } as const
  const planned = { digest: 'd', untilMs: 1_000_001, change: { ...update, drift: ['size'] } }
  const creation = { ...planned, change: { do: 'create', round: 1 } as const }
  const deletion = { ...planned, change: { do: 'delete', id: 'x' } as const }
  const get = { do: 'get', id: 'x' }
  const rows: readonly Row[] = [
    { because: 'is made without another look', given: { memory: { ...made, planned } }, action: update },
    {
      because: 'though somebody asks for a run',
      given: { memory: { ...made, planned }, isRequested: true },
      action: update,
    },
    {
      because: 'not for another declaration',
      given: { memory: { ...made, planned: { ...planned, digest: 'other' } } },
      action: get,
    },
    {
      because: 'not when its time is over',
      given: { memory: { ...made, planned: { ...planned, untilMs: 1_000_000 } } },
      action: get,
    },
    {
      because: 'not to another entity',
      given: { memory: { ...made, id: 'y', planned } },
      action: { do: 'get', id: 'y' },
    },
    {
      because: 'not if updates are not allowed',
      given: { memory: { ...made, planned }, policy: { ...managed, updates: false } },
      action: get,
    },
    { because: 'not of what is going', given: { memory: { ...made, planned }, isDeleting: true }, action: get },
    {
      because: 'not after a look',
      given: { memory: { ...made, planned }, seen: { is: 'present', id: 'x', owner: 'v', differs: [] } },
      action: { do: 'refuse', reason: 'OwnedByAnother' },
    },
    {
      because: 'a create of what was not there',
      given: { memory: { round: 1, intent: { atMs: 0 }, planned: creation } },
      action: creation.change,
    },
    {
      because: 'no create in the place of what a person has named',
      given: {
        memory: { round: 1, intent: { atMs: 0 }, planned: creation },
        policy: { ...managed, adoption: { id: 'a', mode: 'match' } },
      },
      action: { do: 'find' },
    },
    { because: 'no create of what has been made', given: { memory: { ...made, planned: creation } }, action: get },
    {
      because: 'no create where that is not allowed',
      given: {
        memory: { round: 1, intent: { atMs: 0 }, planned: creation },
        policy: { ...managed, creates: false },
      },
      action: { do: 'find' },
    },
    {
      because: 'a deletion of what is going',
      given: { memory: { ...made, planned: deletion }, isDeleting: true },
      action: deletion.change,
    },
    { because: 'no deletion of what is not', given: { memory: { ...made, planned: deletion } }, action: get },
    {
      because: 'no deletion of what is to stay',
      given: { memory: { ...made, planned: deletion }, isDeleting: true, policy: { ...managed, deletes: false } },
      action: { do: 'release', left: { reason: 'Kept' } },
    },
    {
      because: 'no second deletion in one run',
      given: { memory: { ...made, planned: deletion }, isDeleting: true, has: 'deleted' },
      action: get,
    },
  ]
  it.each(rows)('$because', ({ given, action }) => {
    expect(decided(given)).toMatchObject(action)
  })
})
