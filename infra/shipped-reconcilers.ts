import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeReconcilers } from './bundling/reconciler-modules.ts'

const list = new URL('../functions/reconcilers.ts', import.meta.url)

/** The list of the reconcilers that come with the project. */
export const shippedReconcilers = fileURLToPath(list)

/** The modules of the families: those that the list imports. */
const families = [...readFileSync(list, 'utf8').matchAll(/ from '(\.\/reconcilers\/[^']+)'/g)].map(([, file = '']) =>
  fileURLToPath(new URL(file, list)),
)

/** The module of the family that has this reconciler, so that a function holds the code of no other family. */
export function findShippedEntry(name: string): string {
  const entry = families.find((file) => hasReconciler(file, name))
  if (entry === undefined) throw new Error(`no module that ${shippedReconcilers} imports has the reconciler ${name}`)
  return entry
}

/** The list of a user's own reconcilers may be empty, and a module without one cannot be described. */
function hasReconciler(file: string, name: string): boolean {
  return !isEmptyList(file) && describeReconcilers(file).some((one) => one.name === name)
}

function isEmptyList(file: string): boolean {
  return /= \[\]\s*$/.test(readFileSync(file, 'utf8'))
}
