import { hasCode } from '../../model/errors.ts'
import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import type { JsonObject } from '../../model/json.ts'
import { kindsNamedBy, type Controller } from '../../reconciler/controller.ts'
import { customResourceDefinitionKind, namespaceKind } from '../../resources/built-in-kinds.ts'
import type { KindCatalog } from '../../resources/kind-catalog.ts'
import type { Resources } from '../../resources/resources.ts'
import { createAccount } from './namespaces.ts'

/**
 * What is there from the first moment: the default namespace with its ServiceAccount, and the kinds of the shipped
 * reconcilers, as this version has them. Throws INVALID for a definition that is refused, such as one that moves a
 * kind to another scope, TOO_LARGE for one in which somebody has left no room, and DAMAGED for one that cannot be read,
 * once the others are there. With `onRefused` the start goes on, and `onRefused` gets the refused definition: a person
 * can mend it only while a control plane runs.
 */
export async function installBasics(options: {
  readonly resources: Resources
  readonly catalog: KindCatalog
  readonly controllers: readonly Controller[]
  readonly onRefused?: (definition: CustomResourceDefinition, refusal: Error) => void
}): Promise<void> {
  const { resources, controllers, onRefused } = options
  await createIfAbsent(resources, 'default')
  await installAccount(resources, 'default')
  const definitions = kindsNamedBy(controllers).flatMap(({ definition }) => definition ?? [])
  let refusal: Error | undefined
  for (const definition of definitions) {
    try {
      await installDefinition(resources, definition)
    } catch (error) {
      if (!hasCode(error, 'INVALID', 'TOO_LARGE', 'DAMAGED')) throw error
      if (onRefused === undefined) refusal ??= error
      else onRefused(definition, error)
    }
  }
  if (refusal !== undefined) throw refusal
}

async function createIfAbsent(resources: Resources, name: string): Promise<void> {
  try {
    await resources.create(namespaceKind, { metadata: { name } }, manager)
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
  }
}

/** What hinders it, as a quota may, is no reason to start nothing: its namespace makes it once that is gone. */
async function installAccount(resources: Resources, namespace: string): Promise<void> {
  try {
    await createAccount(resources, namespace)
  } catch (error) {
    if (!hasCode(error, 'FORBIDDEN', 'DAMAGED')) throw error
  }
}

/** Applied, so that a definition that is as it should be is not written. */
async function installDefinition(resources: Resources, definition: CustomResourceDefinition): Promise<void> {
  const body = definition as unknown as JsonObject
  await resources.patch(
    customResourceDefinitionKind,
    { name: definition.metadata.name },
    { type: 'apply', body, force: true },
    manager,
  )
}

const manager = { manager: 'setpoint' } as const
