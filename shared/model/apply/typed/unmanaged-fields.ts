import { nameElement } from '../fields/field-path.ts'
import { setOfPaths } from '../fields/field-set.ts'

/** Fields that nobody can manage, because the name is what is managed or because only the server writes them. */
export const unmanagedFields = setOfPaths(
  [
    ['apiVersion'],
    ['kind'],
    ['metadata'],
    ['metadata', 'name'],
    ['metadata', 'namespace'],
    ['metadata', 'selfLink'],
    ['metadata', 'uid'],
    ['metadata', 'resourceVersion'],
    ['metadata', 'generation'],
    ['metadata', 'creationTimestamp'],
    ['metadata', 'deletionTimestamp'],
    ['metadata', 'deletionGracePeriodSeconds'],
    ['metadata', 'managedFields'],
  ].map((path) => path.map(nameElement)),
)
