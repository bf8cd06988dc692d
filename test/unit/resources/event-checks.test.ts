import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { checkEvent } from '../../../shared/resources/event-checks.ts'

const metadata = { name: 'e', namespace: 'n' }
const about = (namespace: string) => ({ involvedObject: { kind: 'Pod', namespace } })
/** An event without a time of microseconds, as the core group had them first. */
const plain = { metadata, ...about('n'), reason: 'Made' }
const timed = {
  ...plain,
  eventTime: '2026-11-01T00:00:00.000001Z',
  reportingComponent: 'x.dev/y',
  reportingInstance: 'y-1',
  action: 'Make',
  type: 'Normal',
}

function faultsOf(event: JsonObject, live?: JsonObject, askedAs?: string): readonly string[] {
  const errors = checkEvent(event as ApiObject, live as ApiObject | undefined, askedAs === undefined ? {} : { askedAs })
  return errors.map(({ field, message }) => `${field}: ${message}`)
}

const elsewhere = (namespace: string) =>
  `involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`
const missing = (field: string) => `${field}: Required value`
const long = (field: string, max: number) => `${field}: Invalid value: "": can have at most ${max} characters`
const set = (field: string) => `${field}: Invalid value: "": needs to be unset`
const unnamed = (reporter: string) => [
  missing(reporter),
  `${reporter}: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', with an optional DNS subdomain prefix and '/'`,
]
const inNamespace = (namespace?: string) => ({ metadata: { name: 'e', ...(namespace && { namespace }) } })

describe('an event of the core group', () => {
  it.each<[string, JsonObject, readonly string[]]>([
    ['about an object of its namespace', {}, []],
    ['about an object of another', about('m'), [elsewhere('m')]],
    ['about an object of the cluster', about(''), [elsewhere('')]],
    ['about nothing', { involvedObject: 'x' }, [elsewhere('')]],
    ['in no namespace, about an object of the cluster', { ...inNamespace(), ...about('') }, []],
    ['in default, about an object of the cluster', { ...inNamespace('default'), ...about('') }, []],
    ['in default, about an object of another', { ...inNamespace('default'), ...about('m') }, [elsewhere('m')]],
    ['whose time is a text without letters', { eventTime: '', ...about('m') }, [elsewhere('m')]],
  ])('%s', (_what, more, faults) => {
    expect(faultsOf({ ...plain, ...more })).toEqual(faults)
  })

  it.each<[string, JsonObject, readonly string[]]>([
    ['that is whole', {}, []],
    ['about an object of another namespace', about('m'), []],
    ['about an object of the cluster', about(''), [elsewhere('')]],
    ['in default, about an object of the cluster', { ...inNamespace('default'), ...about('') }, []],
    ['in kube-system, about an object of the cluster', { ...inNamespace('kube-system'), ...about('') }, []],
    [
      'that says nothing of who reports',
      { reportingComponent: '', reportingInstance: null, action: 0, reason: {} },
      [...unnamed('reportingComponent'), ...['reportingInstance', 'action', 'reason'].map(missing)],
    ],
    ['whose texts are as long as may be', { action: 'x'.repeat(128), message: 'x'.repeat(1_024) }, []],
    ['whose action is too long', { action: 'x'.repeat(129) }, [long('action', 128)]],
    [
      'whose instance and reason are too long in bytes',
      { reportingInstance: 'ä'.repeat(65), reason: 'ä'.repeat(65) },
      [long('reportingInstance', 128), long('reason', 128)],
    ],
    ['whose message is too long', { message: 'x'.repeat(1_025) }, [long('message', 1_024)]],
    ['of a type that nobody knows', { type: 'Odd', count: 3 }, []],
  ])('%s, with a time of microseconds', (_what, more, faults) => {
    expect(faultsOf({ ...timed, ...more })).toEqual(faults)
  })

  it('may change in every field', () => {
    expect(faultsOf({ ...timed, reason: 'Other', series: { count: 0 } }, timed)).toEqual([])
  })
})

describe('an event of events.k8s.io', () => {
  const series = { count: 2, lastObservedTime: '2026-11-01T00:00:01.000001Z' }
  const few = 'series.count: Invalid value: "": should be at least 2'
  const group = 'events.k8s.io'

  it.each<[string, JsonObject, readonly string[]]>([
    ['that is whole', {}, []],
    ['that warns', { type: 'Warning' }, []],
    ['whose controller nobody names', { reportingComponent: '' }, unnamed('reportingController')],
    ['without a time', { eventTime: null }, [missing('eventTime')]],
    ['of another type', { type: 'Odd' }, ['type: Invalid value: "": has invalid value: Odd']],
    ['of no type', { type: '' }, ['type: Invalid value: "": has invalid value: ']],
    [
      'with fields of the core group',
      { firstTimestamp: 'x', lastTimestamp: 'x', count: 1, source: { component: 'x' } },
      ['firstTimestamp', 'lastTimestamp', 'count', 'source'].map(set),
    ],
    [
      'with such fields that are empty',
      { firstTimestamp: null, lastTimestamp: '', count: 0, source: { component: '', host: null } },
      [],
    ],
    ['that happened twice', { series }, []],
    ['that happened once, as a series', { series: { ...series, count: 1 } }, [few]],
    ['of a series that says nothing', { series: {} }, [few, missing('series.lastObservedTime')]],
    ['of a series that is none', { series: null }, []],
  ])('%s', (_what, more, faults) => {
    expect(faultsOf({ ...timed, ...more }, undefined, group)).toEqual(faults)
  })

  const fixed = (field: string, value: string) => `${field}: Invalid value: ${value}: field is immutable`
  it.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['that stays', {}, {}, []],
    ['of another reason', {}, { reason: 'Other' }, [fixed('reason', '"Other"')]],
    ['of another controller', {}, { reportingComponent: 'z' }, [fixed('reportingController', '"z"')]],
    ['about another object', {}, about('m'), [fixed('involvedObject', '{"kind":"Pod","namespace":"m"}')]],
    ['whose parts are empty instead of missing', {}, { involvedObject: { ...about('n').involvedObject, uid: '' } }, []],
    ['that says nothing instead of an empty text', { message: '' }, { message: null }, []],
    [
      'of another part of a second',
      { firstTimestamp: '2026-11-01T00:00:00.1Z' },
      { firstTimestamp: '2026-11-01T00:00:00.9Z' },
      [],
    ],
    [
      'of another second',
      { lastTimestamp: '2026-11-01T00:00:00.9Z' },
      { lastTimestamp: '2026-11-01T00:00:01Z' },
      [fixed('lastTimestamp', '"2026-11-01T00:00:01Z"')],
    ],
    [
      'of another microsecond',
      {},
      { eventTime: '2026-11-01T00:00:00.000002Z' },
      [fixed('eventTime', '"2026-11-01T00:00:00.000002Z"')],
    ],
    ['that happened again', { series }, { series: { ...series, count: 3 } }, []],
    ['whose series is not whole any more', { series }, { series: { ...series, count: 1 } }, [few]],
    ['whose series was never whole', { series: { count: 1 } }, { series: { count: 1 } }, []],
    ['whose fields of the core group were set', { count: 3 }, { count: 3 }, []],
    ['that counts on', { count: 3 }, { count: 4 }, [fixed('count', '4')]],
    ['that says something', {}, { message: 'more' }, [fixed('message', '"more"')]],
    ['that says nothing any more', { message: 'more' }, { message: '' }, [fixed('message', '""')]],
    ['whose text becomes a number', { message: '1' }, { message: 1 }, [fixed('message', '1')]],
  ])('%s', (_what, before, change, faults) => {
    const live = { ...timed, ...before }
    expect(faultsOf({ ...live, ...change }, live, group)).toEqual(faults)
  })

  it('may have no time where it had none', () => {
    const { eventTime: _, ...live } = timed
    expect(faultsOf(live, live, group)).toEqual([])
  })
})
