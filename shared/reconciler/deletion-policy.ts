import { deletionPolicyAnnotation } from '../model/control-annotations.ts'
import type { ApiObject } from '../model/object.ts'
import type { Controller, DeletionPolicy } from './controller.ts'
import { done, stop } from './outcome.ts'

type Cleanup = NonNullable<Controller['cleanup']>

/** The clean-up as the policy of the object, or else that of the controller, wants it. */
export function withDeletionPolicy(cleanup: Cleanup, policy: DeletionPolicy): Cleanup {
  return async (object, ctx) => {
    if (deletionPolicyOf(object, policy) === 'Delete') return cleanup(object, ctx)
    await ctx.event('Normal', 'Retained', 'what was made for it outside stays as it is')
    return done()
  }
}

/** Throws what stops the run if the annotation says neither: a slip of the pen must not delete what was to be kept. */
function deletionPolicyOf({ metadata: { annotations } }: ApiObject, policy: DeletionPolicy): DeletionPolicy {
  const given = annotations?.[deletionPolicyAnnotation] ?? policy
  if (given === 'Delete' || given === 'Retain') return given
  throw stop(
    'DeletionPolicyInvalid',
    `${deletionPolicyAnnotation} is ${JSON.stringify(given)}, and not Delete or Retain`,
  )
}
