import { describe, expect, it } from 'vitest'
import { readDeleteOptions } from '../../../shared/api/delete-options.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { endOf } from './end-of.ts'
import { request } from './sent-request.ts'

const line = 'DELETE /apis/g.dev/v1/namespaces/n/ks/a'
const plain = { manager: 'kubectl', dryRun: false, ignoreDamage: false, said: {} }
const ignore = 'ignoreStoreReadErrorWithClusterBreakingPotential'

const ofBody = (body: JsonObject) => endOf(() => readDeleteOptions(request(line, { body })))
const ofQuery = (query: string) => endOf(() => readDeleteOptions(request(`${line}?${query}`)))

describe('the options of a delete in its body', () => {
  it.each<[JsonObject, JsonObject]>([
    [{}, {}],
    [{ kind: 'DeleteOptions', apiVersion: 'v1' }, {}],
    [{ kind: '' }, {}],
    [{ kind: null, gracePeriodSeconds: null, orphanDependents: null, propagationPolicy: null, dryRun: null }, {}],
    [{ dryRun: [], preconditions: null }, {}],
    [{ dryRun: ['All'] }, { dryRun: true, said: { dryRun: ['All'] } }],
    [{ gracePeriodSeconds: 0 }, { said: { gracePeriodSeconds: 0 } }],
    ...['Background', 'Foreground', 'Orphan'].map((propagation): [JsonObject, JsonObject] => [
      { propagationPolicy: propagation },
      { propagation, said: { propagationPolicy: propagation } },
    ]),
    [{ orphanDependents: true }, { propagation: 'Orphan', said: { orphanDependents: true } }],
    [
      { orphanDependents: true, propagationPolicy: null },
      { propagation: 'Orphan', said: { orphanDependents: true } },
    ],
    [{ orphanDependents: false }, { propagation: 'Background', said: { orphanDependents: false } }],
    [
      { orphanDependents: null, propagationPolicy: 'Orphan' },
      { propagation: 'Orphan', said: { propagationPolicy: 'Orphan' } },
    ],
    [{ [ignore]: true }, { ignoreDamage: true, said: { [ignore]: true } }],
    [{ [ignore]: false }, { said: { [ignore]: false } }],
    [{ preconditions: {} }, { preconditions: {}, said: { preconditions: {} } }],
    [
      { preconditions: { uid: 'u', resourceVersion: '7' } },
      {
        preconditions: { uid: 'u', resourceVersion: '7' },
        said: { preconditions: { uid: 'u', resourceVersion: '7' } },
      },
    ],
    [
      { preconditions: { uid: null, resourceVersion: null } },
      { preconditions: {}, said: { preconditions: { uid: null, resourceVersion: null } } },
    ],
  ])('%j', async (body, options) => {
    expect(await ofBody(body)).toStrictEqual({ ...plain, ...options })
  })

  const invalid = 'INVALID: DeleteOptions.meta.k8s.io "" is invalid:'
  const both = 'orphanDependents and deletionPropagation cannot be both set'
  const some = 'dryRun: Unsupported value: "Some": supported values: "All"'
  const sideways = 'propagationPolicy: Unsupported value: "x": supported values: "Background", "Foreground", "Orphan"'
  it.each<[JsonObject, string]>([
    [{ kind: 'Options' }, 'BAD_REQUEST: DeleteOptions: kind must be DeleteOptions'],
    [{ gracePeriodSeconds: 1.5 }, 'BAD_REQUEST: DeleteOptions: gracePeriodSeconds must be an integer'],
    [{ gracePeriodSeconds: '1' }, 'BAD_REQUEST: DeleteOptions: gracePeriodSeconds must be an integer'],
    [{ orphanDependents: 'true' }, 'BAD_REQUEST: DeleteOptions: orphanDependents must be a boolean'],
    [{ [ignore]: 'true' }, `BAD_REQUEST: DeleteOptions: ${ignore} must be a boolean`],
    [{ propagationPolicy: 1 }, 'BAD_REQUEST: DeleteOptions: propagationPolicy must be a string'],
    [{ preconditions: 'u' }, 'BAD_REQUEST: DeleteOptions: preconditions must be an object'],
    [{ preconditions: { uid: 1 } }, 'BAD_REQUEST: DeleteOptions: preconditions.uid must be a string'],
    [
      { preconditions: { resourceVersion: 7 } },
      'BAD_REQUEST: DeleteOptions: preconditions.resourceVersion must be a string',
    ],
    [{ dryRun: 'All' }, 'BAD_REQUEST: dryRun must be a list'],
    [{ dryRun: ['Some'] }, `${invalid} ${some}`],
    [{ propagationPolicy: 'x' }, `${invalid} ${sideways}`],
    [{ dryRun: ['Some'], propagationPolicy: 'x' }, `${invalid} [${some}, ${sideways}]`],
    [
      { orphanDependents: false, propagationPolicy: 'Orphan' },
      `${invalid} propagationPolicy: Invalid value: "Orphan": ${both}`,
    ],
  ])('%j are refused', async (body, why) => {
    expect(await ofBody(body)).toBe(why)
  })

  it('count for all, and those of the query for nothing but the manager', async () => {
    const asked = request(`${line}?dryRun=All&fieldManager=m`, { body: { gracePeriodSeconds: 5 } })
    expect(await readDeleteOptions(asked)).toStrictEqual({ ...plain, manager: 'm', said: { gracePeriodSeconds: 5 } })
  })
})

describe('the options of a delete in its query', () => {
  it.each<[string, JsonObject]>([
    ['', {}],
    ['propagationPolicy=', {}],
    ['dryRun=All', { dryRun: true, said: { dryRun: ['All'] } }],
    ['gracePeriodSeconds=5', { said: { gracePeriodSeconds: 5 } }],
    ['gracePeriodSeconds=0', { said: { gracePeriodSeconds: 0 } }],
    ['propagationPolicy=Orphan', { propagation: 'Orphan', said: { propagationPolicy: 'Orphan' } }],
    ['orphanDependents=true', { propagation: 'Orphan', said: { orphanDependents: true } }],
    ['orphanDependents=false', { propagation: 'Background', said: { orphanDependents: false } }],
    [`${ignore}=true`, { ignoreDamage: true, said: { [ignore]: true } }],
    [`${ignore}=false`, { said: { [ignore]: false } }],
    ['uid=', {}],
    ['uid=u', { preconditions: { uid: 'u' }, said: { preconditions: { uid: 'u' } } }],
    [
      'resourceVersion=7',
      { preconditions: { resourceVersion: '7' }, said: { preconditions: { resourceVersion: '7' } } },
    ],
    [
      'uid=u&resourceVersion=7',
      {
        preconditions: { uid: 'u', resourceVersion: '7' },
        said: { preconditions: { uid: 'u', resourceVersion: '7' } },
      },
    ],
  ])('%j', async (query, options) => {
    expect(await ofQuery(query)).toStrictEqual({ ...plain, ...options })
  })

  it('are refused where they are not understood', async () => {
    expect(await ofQuery('gracePeriodSeconds=x')).toBe(
      'BAD_REQUEST: unable to decode query parameter gracePeriodSeconds=x: it must be an integer',
    )
  })
})
