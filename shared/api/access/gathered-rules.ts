import type { AccessBook } from '../../model/access/access-book.ts'
import { aggregationOf } from '../../model/access/aggregation.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { clusterRoleKind } from '../../resources/access-kinds.ts'

export function isClusterRole({ group, kind }: ServedKind): boolean {
  return kind === clusterRoleKind.kind && group === clusterRoleKind.group
}

/** Shows a ClusterRole that gathers the rules of others with them: Kubernetes has a controller write them into it. */
export function showGathered(book: AccessBook): (role: ApiObject) => ApiObject {
  return (role) => {
    if (aggregationOf(role) === undefined) return role
    const rules = book.rulesOf({ kind: role.kind, name: role.metadata.name }, '') ?? []
    return { ...role, rules: rules.map((rule) => withoutEmpty({ ...rule })) }
  }
}

function withoutEmpty(rule: Readonly<Record<string, readonly string[]>>): JsonObject {
  const said = Object.entries(rule).filter(([, texts]) => texts.length > 0)
  return Object.fromEntries(said.map(([name, texts]) => [name, [...texts]]))
}
