import { fileURLToPath } from 'node:url'
import { describeReconcilers } from './bundling/reconciler-modules.ts'

const functions = new URL('../functions/', import.meta.url)

/** The list of the reconcilers that come with the project. */
export const shippedReconcilers = fileURLToPath(new URL('reconcilers.ts', functions))

const families = ['postgres/aws-reconcilers.ts', 'backup/deployed.ts', 'konnect/deployed.ts'].map((file) =>
  fileURLToPath(new URL(`reconcilers/${file}`, functions)),
)

/**
 * The module to take one of them from: that of its family, so that a function holds no other family's code, or else the
 * list.
 */
export function shippedEntryOf(name: string): string {
  const hasIt = (file: string): boolean => describeReconcilers(file).some((one) => one.name === name)
  return families.find(hasIt) ?? shippedReconcilers
}
