import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject, ObjectMeta } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import {
  alreadyExists,
  checkPreconditions,
  conflict,
  deniedByPolicy,
  deniedByWebhook,
  failedPatch,
  failedPolicies,
  failedWebhook,
  forbiddenFor,
  notFound,
  terminatingRefusal,
} from '../../../shared/resources/refusals.ts'

const kind = { group: 'example.com', plural: 'widgets' } as ServedKind
const core = { group: '', plural: 'secrets' } as ServedKind
const object = { metadata: { name: 'a', uid: 'u' } } as unknown as ApiObject
const details = { name: 'a', group: 'example.com', kind: 'widgets' }

describe('a refusal', () => {
  it.each([
    [notFound(kind, 'a'), 'NOT_FOUND', 'widgets.example.com "a" not found'],
    [notFound(core, 'a'), 'NOT_FOUND', 'secrets "a" not found'],
    [alreadyExists(kind, 'a'), 'ALREADY_EXISTS', 'widgets.example.com "a" already exists'],
    [
      alreadyExists(kind, 'a', true),
      'ALREADY_EXISTS',
      'object is being deleted: widgets.example.com "a" already exists',
    ],
    [forbiddenFor(core, 'a', 'so'), 'FORBIDDEN', 'secrets "a" is forbidden: so'],
    [
      conflict(kind, { name: 'a', uid: 'u' }, 'so'),
      'VERSION_CONFLICT',
      'Operation cannot be fulfilled on widgets.example.com "a": so',
    ],
    [
      terminatingRefusal(core, 'a', 'n'),
      'FORBIDDEN',
      'secrets "a" is forbidden: unable to create new content in namespace n because it is being terminated',
    ],
    [failedWebhook('w', 'so'), 'HOOK_FAILED', 'Internal error occurred: failed calling webhook "w": so'],
  ])('is in the words of Kubernetes: %s', (error, code, message) => {
    expect(error).toMatchObject({ code, message })
  })

  it.each([
    [undefined, undefined, true],
    ['u', '5', true],
    ['v', undefined, false],
    [undefined, '4', false],
  ])('of who means the uid %s and the version %s: %j', (uid, resourceVersion, isMeant) => {
    const live = { name: 'a', uid: 'u', resourceVersion: '5' } as ObjectMeta
    const check = () => checkPreconditions(kind, live, { uid, resourceVersion })
    if (isMeant) expect(check).not.toThrow()
    else expect(check).toThrow(expect.objectContaining({ code: 'VERSION_CONFLICT' }))
  })

  it.each([
    ['Unauthorized', 'UNAUTHORIZED'],
    ['Forbidden', 'FORBIDDEN'],
    ['RequestEntityTooLarge', 'TOO_LARGE'],
    ['Invalid', 'INVALID'],
    ['Other', 'INVALID'],
    [undefined, 'INVALID'],
  ])('by a policy that says %s is %s', (reason, code) => {
    const error = deniedByPolicy({ kind, object }, ['p', 'b'], { message: 'so', ...(reason && { reason }) })
    const message = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: so"
    expect(error).toMatchObject({ code, message: `widgets.example.com "a" is forbidden: ${message}` })
    expect(error.details).toEqual({ ...details, causes: [{ reason: '', message }] })
  })

  it('by a policy names the path, and what was there before if nothing is', () => {
    const words = (of: Parameters<typeof deniedByPolicy>[0]): string =>
      deniedByPolicy(of, ['p', 'b'], { message: 'so' }).message.split(' is')[0] ?? ''
    expect(words({ kind, resource: core, object })).toBe('secrets "a"')
    expect(words({ kind, old: object })).toBe('widgets.example.com "a"')
    expect(words({ kind })).toBe('widgets.example.com ""')
  })

  it('by policies that change objects has twenty causes at most', () => {
    const failures = Array.from({ length: 21 }, (_, i) => ({ policy: `p${i}`, binding: 'b', why: 'so' }))
    const error = failedPolicies({ kind, object }, failures)
    expect(error.details.causes).toHaveLength(20)
    expect(error).toMatchObject({
      code: 'FORBIDDEN',
      message: "policy 'p0' with binding 'b' denied request: so",
      details: { ...details, answer: { status: 403, reason: 'Invalid' } },
    })
  })

  it.each([
    [{ code: 400, reason: 'Bad', message: 'so' }, ': so'],
    [{ code: 400, reason: 'Bad', message: '' }, ': Bad'],
    [{ code: 400, reason: '', message: '' }, ' without explanation'],
  ])('by a webhook is as it says: %j', (said, ending) => {
    const told = { name: 'a', causes: [{ reason: 'R', message: 'm', field: 'f' }] }
    const error = deniedByWebhook('w', { ...said, details: told })
    expect(error.message).toBe(`admission webhook "w" denied the request${ending}`)
    expect(error.details).toEqual({ ...told, answer: { status: 400, reason: said.reason } })
  })

  it('of a patch that does not fit names the webhook; a slip of the program stays one', () => {
    const cause = new OperatingError('INVALID', 'so')
    expect(failedPatch('w', cause)).toMatchObject({ code: 'HOOK_FAILED', cause })
    const slip = new TypeError('a bug')
    expect(failedPatch('w', slip)).toBe(slip)
  })
})
