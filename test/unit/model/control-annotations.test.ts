import { describe, expect, it } from 'vitest'
import {
  controlAnnotations,
  declaredAnnotationsOf,
  findIneffectiveAnnotations,
  isEnginesAnnotation,
  isPaused,
  ownResyncMs,
  publicKeysOf,
  unreadPause,
} from '../../../shared/model/control-annotations.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { storedWidget } from '../../support/stored-object.ts'

const annotated = (annotations?: Record<string, string>) => storedWidget('w', annotations && { annotations }).object

it.each([
  ['setpoint.dev/paused', true],
  ['setpoint.dev/any', true],
  ['setpoint.develop/paused', false],
  ['other.dev/setpoint.dev/paused', false],
])('%s speaks to the engine: %s', (name, is) => {
  expect(isEnginesAnnotation(name)).toBe(is)
  expect(controlAnnotations({ [name]: 'x' })).toEqual(is ? { [name]: 'x' } : {})
})

it.each([
  ['true', true, undefined],
  ['false', false, undefined],
  ['True', false, 'True'],
  ['', false, ''],
  [undefined, false, undefined],
])('a pause of %j', (given, paused, unread) => {
  const object = annotated(given === undefined ? undefined : { 'setpoint.dev/paused': given })
  expect([isPaused(object), unreadPause(object)]).toEqual([paused, unread])
})

it.each([
  [undefined, undefined],
  ['0', 0],
  ['0s', 0],
  ['1ms', 1_000],
  ['999ms', 1_000],
  ['1001ms', 1_001],
  ['5m', 300_000],
  ['soon', undefined],
  ['', undefined],
])('a resync of %j is one of %j ms', (given, ms) => {
  expect(ownResyncMs(annotated(given === undefined ? undefined : { 'setpoint.dev/resync': given }))).toBe(ms)
})

describe('an annotation for the engine', () => {
  it.each([
    ['paused', 'true'],
    ['paused', 'false'],
    ['reconcile-requested-at', 'x'],
    ['deletion-policy', 'Delete'],
    ['deletion-policy', 'Retain'],
    ['resync', '0'],
    ['resync', '5m'],
    ['external-id', 'x'],
    ['adopt', 'x'],
    ['manage', 'x'],
    ['create-again', 'x'],
    ['public-keys', 'x'],
    ['role-arn', 'x'],
  ])('%s has an effect as %j', (name, given) => {
    expect(findIneffectiveAnnotations(annotated({ [`setpoint.dev/${name}`]: given }))).toEqual([])
  })

  it.each([
    ['paused', 'yes', '"yes" is not "true": the object is not paused'],
    ['resync', 'soon', '"soon" is not a duration such as 5m, so it has no effect'],
    ['deletion-policy', 'delete', '"delete" is not Delete or Retain: its deletion waits until the value is corrected'],
    ['pause', 'true', 'an annotation of this name is not known'],
  ])('%s has none as %j, and its writer is told', (name, given, why) => {
    const annotations = { other: 'x', [`setpoint.dev/${name}`]: given, 'setpoint.dev/adopt': 'match' }
    expect(findIneffectiveAnnotations(annotated(annotations))).toEqual([
      `metadata.annotations[setpoint.dev/${name}]: ${why}`,
    ])
  })

  it('is missing from an object without annotations', () => {
    expect([findIneffectiveAnnotations(annotated()), controlAnnotations()]).toEqual([[], {}])
  })
})

it('a thing outside is declared by all annotations but those that say when things happen', () => {
  const declaring = {
    'other.dev/x': '1',
    'setpoint.dev/external-id': '2',
    'setpoint.dev/adopt': '3',
    'setpoint.dev/manage': '4',
    'setpoint.dev/create-again': '5',
  }
  const others = {
    'setpoint.dev/paused': 'true',
    'setpoint.dev/resync': '5m',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
  }
  expect(declaredAnnotationsOf({ ...declaring, ...others })).toEqual(declaring)
  expect(declaredAnnotationsOf()).toEqual({})
})

it.each<[JsonObject, readonly string[]]>([
  [{ metadata: { annotations: { 'setpoint.dev/public-keys': 'host, user' } } }, ['host', 'user']],
  [{ metadata: { annotations: { 'setpoint.dev/public-keys': 5 } } }, []],
  [{ metadata: { annotations: {} } }, []],
  [{ metadata: { annotations: 'host' } }, []],
  [{ metadata: 'host' }, []],
  [{}, []],
])('a Secret that says %j has the public keys %j', (secret, keys) => {
  expect(['host', 'user', 'password', ''].filter(publicKeysOf(secret))).toEqual(keys)
})
