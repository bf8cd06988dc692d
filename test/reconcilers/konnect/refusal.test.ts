import { expect, it } from 'vitest'
import { toHttpError } from '../../../functions/reconcilers/konnect/refusal.ts'
import { HttpError, MissingReferenceError, type JsonObject } from '../../../shared/index.ts'

/** Answers as Kong's own operator and clients have seen them. */

const constraint = (type: string, message: string): JsonObject => ({
  code: 3,
  message: 'data constraint error',
  details: [
    { '@type': 'type.googleapis.com/kong.admin.model.v1.ErrorDetail', type, field: 'name', messages: [message] },
  ],
})

it('problem details: title, detail and parameters, and not the trace, which is another one each time', () => {
  const answer = {
    status: 400,
    title: 'Bad Request',
    detail: 'invalid',
    instance: 'konnect:trace:4711',
    invalid_parameters: [{ field: 'labels', rule: 'is_label', reason: 'must not begin with kong' }],
  }
  expect(toHttpError(400, answer).message).toBe('400 Bad Request: invalid: labels must not begin with kong')
})

it.each([
  { type: 'ERROR_TYPE_REFERENCE', message: 'name (type: unique) constraint failed', kind: HttpError, status: 409 },
  {
    type: 'ERROR_TYPE_REFERENCE',
    message: 'service.id (type: foreign) constraint failed',
    kind: MissingReferenceError,
    status: 400,
  },
  { type: 'ERROR_TYPE_FIELD', message: "must start with '/'", kind: HttpError, status: 400 },
])('the gateway says $type, $message: $status', ({ type, message, kind, status }) => {
  const error = toHttpError(400, constraint(type, message))
  expect([error.constructor, error.status]).toEqual([kind, status])
  expect(error.message).toBe(`400 data constraint error: ${message}`)
})

it('of a long text the beginning stands in the message', () => {
  const { message } = toHttpError(400, { title: 'Bad Request', detail: 'x'.repeat(100_000) })
  expect(message).toBe(`400 Bad Request: ${'x'.repeat(482)}…`)
})

it('an answer without a body, and the time to wait', () => {
  expect(toHttpError(429, undefined, { retryAfterMs: 7_000 })).toMatchObject({
    status: 429,
    message: '429',
    retryAfterMs: 7_000,
  })
})
