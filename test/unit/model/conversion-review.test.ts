import { describe, expect, it } from 'vitest'
import { readConversion, writeConversion } from '../../../shared/model/conversion-review.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import { storedWidget } from '../../support/stored-object.ts'

const { object } = storedWidget('w', { labels: { a: 'x' } })
const question = { review: 'v1', uid: 'u', group: 'example.com', version: 'v2', objects: [object] } as const
const head = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }
const { name, namespace = '', uid } = object.metadata
const metadata = { name, namespace, uid }
const made = { apiVersion: 'example.com/v2', kind: 'Widget', metadata, spec: { size: 2 }, extra: 1 }
const response = { uid: 'u', result: { status: 'Success' }, convertedObjects: [made] }

function read(said: JsonObject, asked: Parameters<typeof readConversion>[1] = question) {
  return readConversion(JSON.stringify({ ...head, response: { ...response, ...said } }), asked)
}

it.each(['v1', 'v1beta1'] as const)('a question in %s says into which version', (review) => {
  expect(JSON.parse(writeConversion({ ...question, review }))).toEqual({
    apiVersion: `apiextensions.k8s.io/${review}`,
    kind: 'ConversionReview',
    request: { uid: 'u', desiredAPIVersion: 'example.com/v2', objects: [object] },
  })
})

describe('the answer to a conversion', () => {
  const content = { spec: { size: 2 }, extra: 1 }

  it.each<[string, JsonObject, JsonObject]>([
    ['has what is not identity', {}, { content }],
    ['has labels', { labels: { b: 'y' } }, { content, labels: { b: 'y' } }],
    ['has annotations', { annotations: { c: 'z' } }, { content, annotations: { c: 'z' } }],
    ['has none that are empty', { labels: {}, annotations: null }, { content }],
  ])('%s', (_what, more, converted) => {
    expect(read({ convertedObjects: [{ ...made, metadata: { ...metadata, ...more } }] })).toEqual([converted])
  })

  it.each<[string, JsonObject, string]>([
    ['is of another request', { uid: 'x' }, 'expected response.uid="u", got "x"'],
    ['is of no request', { uid: 5 }, 'expected response.uid="u", got null'],
    ['failed', { result: { status: 'Failed', message: 'no' } }, 'no'],
    ['failed without a word', { result: { status: 'Failed' } }, 'response.result.status was "Failed"'],
    ['has no result', { result: 'Success' }, 'response.result.status was null'],
    ['has no result at all', { result: null }, 'response.result.status was null'],
    ['has no objects', { convertedObjects: {} }, 'returned 0 objects, expected 1'],
    ['has too many', { convertedObjects: [made, made] }, 'returned 2 objects, expected 1'],
  ])('is none if it %s', (_why, said, fault) => {
    expect(read(said)).toEqual({ fault })
  })

  const wrong = 'returned invalid converted object at index 0: '
  it.each<[string, Json, string]>([
    ['is none', 5, 'it is no object'],
    [
      'is in another version',
      { ...made, apiVersion: 'example.com/v1' },
      'invalid groupVersion (expected example.com/v2, received "example.com/v1")',
    ],
    ['is of another kind', { ...made, kind: 'Other' }, 'invalid kind (expected Widget, received "Other")'],
    ['has no metadata', { ...made, metadata: 'x' }, 'missing metadata in converted object'],
    ['has another name', { ...made, metadata: { ...metadata, name: 'x' } }, 'must have the same name'],
    ['has no namespace', { ...made, metadata: { name, uid } }, 'must have the same namespace'],
    ['has another uid', { ...made, metadata: { ...metadata, uid: 'x' } }, 'must have the same uid'],
    [
      'has both labels and annotations of another type',
      { ...made, metadata: { ...metadata, labels: ['a'], annotations: ['b'] } },
      'invalid metadata.labels in converted object',
    ],
    [
      'has labels of another type',
      { ...made, metadata: { ...metadata, labels: ['a'] } },
      'invalid metadata.labels in converted object',
    ],
    [
      'has annotations of another type',
      { ...made, metadata: { ...metadata, annotations: 'a' } },
      'invalid metadata.annotations in converted object',
    ],
    [
      'is in a version with a long name',
      { ...made, apiVersion: 'v'.repeat(101) },
      `invalid groupVersion (expected example.com/v2, received "${'v'.repeat(100)}")`,
    ],
    [
      'has a label of another type',
      { ...made, metadata: { ...metadata, labels: { a: 'x', b: 5 } } },
      'metadata.labels[b] must be a string',
    ],
    [
      'has a long name of another type',
      { ...made, metadata: { ...metadata, annotations: { ['k'.repeat(101)]: 5 } } },
      `metadata.annotations[${'k'.repeat(100)}] must be a string`,
    ],
  ])('is none if an object %s', (_why, one, fault) => {
    expect(read({ convertedObjects: [one] })).toEqual({ fault: `${wrong}${fault}` })
  })

  it.each([
    ['', 'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview'],
    ['[]', 'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview'],
    [
      JSON.stringify({ ...head, kind: 'Other', response }),
      'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview',
    ],
    [
      JSON.stringify({ ...head, apiVersion: 'v1', response }),
      'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview',
    ],
    [JSON.stringify(head), 'no response provided'],
  ])('is none if it reads %j', (answer, fault) => {
    expect(readConversion(answer, question)).toEqual({ fault })
  })

  it('in v1beta1 says neither which it is nor of which request', () => {
    const asked = { ...question, review: 'v1beta1' } as const
    expect(readConversion(JSON.stringify({ response: { ...response, uid: 'x' } }), asked)).toEqual([{ content }])
    expect(readConversion('5', asked)).toEqual({ fault: 'no response provided' })
  })

  it('may leave out what the object has not', () => {
    const { namespace: _, ...rest } = object.metadata
    const wide = { ...question, objects: [{ ...object, metadata: rest }] }
    expect(read({ convertedObjects: [{ ...made, metadata: { name, uid, namespace: '' } }] }, wide)).toEqual([
      { content },
    ])
    expect(read({}, wide)).toEqual({ fault: `${wrong}must have the same namespace` })
  })

  it('says which object of several is wrong', () => {
    const two = { ...question, objects: [object, object] }
    expect(read({ convertedObjects: [made, 5] }, two)).toEqual({
      fault: 'returned invalid converted object at index 1: it is no object',
    })
    expect(read({ convertedObjects: [made, made] }, two)).toHaveLength(2)
  })
})
