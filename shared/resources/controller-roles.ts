import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { JsonObject } from '../model/json.ts'
import { builtInKinds } from './built-in-kinds.ts'

/** A controller, as far as a role tells of it. */
export interface ControllerWithRights {
  readonly name: string
  readonly kind: { readonly group: string }
  readonly rights: ReadonlyMap<string, Right>
}

interface Right {
  readonly kind: { readonly group: string; readonly kind: string; readonly definition?: CustomResourceDefinition }
  /** `write` is to read, too. */
  readonly access: 'read' | 'write'
}

/**
 * The rules that say what the runs of a controller may do. They show its declarations, which alone decide: a role that
 * somebody changes gives a controller nothing, and takes nothing from it.
 */
export function rulesOfController({ rights }: ControllerWithRights): readonly JsonObject[] {
  const byGroup = Map.groupBy(rights.values(), ({ kind }) => kind.group)
  const rules = [...byGroup].flatMap(([group, some]) => {
    const [written, read] = [some.filter(isWrite), some.filter((right) => !isWrite(right))].map(pluralsOf)
    return [
      ruleOf(group, written, all),
      ruleOf(
        group,
        written?.map((plural) => `${plural}/status`),
        ofStatus,
      ),
      ruleOf(group, read, reading),
    ]
  })
  return [...rules, ruleOf('', ['events'], ['create', 'patch'])].flat()
}

const reading = ['get', 'list', 'watch']
const all = ['create', 'delete', 'patch', 'update', ...reading]
const ofStatus = ['get', 'patch', 'update']

function ruleOf(group: string, resources: readonly string[] = [], verbs: readonly string[]): readonly JsonObject[] {
  return resources.length === 0 ? [] : [{ apiGroups: [group], resources: [...resources], verbs: [...verbs] }]
}

function isWrite({ access }: Right): boolean {
  return access === 'write'
}

function pluralsOf(rights: readonly Right[]): readonly string[] {
  return rights.flatMap(({ kind }) => pluralOf(kind) ?? []).toSorted()
}

function pluralOf({ group, kind, definition }: Right['kind']): string | undefined {
  const known = builtInKinds.find((one) => one.group === group && one.kind === kind)
  return definition?.spec.names.plural ?? known?.plural
}
