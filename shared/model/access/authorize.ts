import { serviceAccountUser, type AccessBook, type Asker, type Binding } from './access-book.ts'
import { ruleAllows, weightOf, workMax } from './rule-allows.ts'
import type { Attributes, PolicyRule, Subject } from './rules.ts'

/** Whether somebody may do something, and why; nothing is said of what simply nobody has allowed. */
export interface Decision {
  readonly allowed: boolean
  readonly reason: string
}

/** Whoever is in it may do everything, whatever roles there are. */
export const superuserGroup = 'system:masters'

/** Everybody is in it whose token is known. */
export const authenticatedGroup = 'system:authenticated'

/** Every ServiceAccount is in it. */
export const accountsGroup = 'system:serviceaccounts'

export function serviceAccountGroups(namespace: string): readonly string[] {
  return [accountsGroup, `${accountsGroup}:${namespace}`, authenticatedGroup]
}

export function isSuperuser({ groups }: Asker): boolean {
  return groups.includes(superuserGroup)
}

/** Whoever is in it may read everything, whatever roles there are. */
export const readerGroup = 'setpoint:readers'

/** Whether somebody may do something by the groups alone that stand above all roles. */
export function isAllowedByGroup(asker: Asker, wanted: Attributes): boolean {
  return isSuperuser(asker) || (asker.groups.includes(readerGroup) && reading.some((rule) => ruleAllows(rule, wanted)))
}

/** Deny by default: allowed is what a rule of one of the user's roles allows. */
export function authorize(asker: Asker, wanted: Attributes, book: AccessBook): Decision {
  if (isAllowedByGroup(asker, wanted)) return { allowed: true, reason: '' }
  const namespace = wanted.path === undefined ? wanted.namespace : ''
  const look = { work: 0 }
  let missing: Set<string> | undefined
  for (const binding of book.bindingsOf(asker, namespace)) {
    look.work += bindingWeight
    if (look.work > workMax) break
    const rules = book.rulesOf(binding.roleRef, binding.namespace)
    if (rules === undefined) (missing ??= new Set()).add(absenceText(binding))
    else if (rules.some((rule) => isWithinReach(rule, look) && ruleAllows(rule, wanted)))
      return allowedBy(binding, asker)
  }
  if (look.work > workMax) return { allowed: false, reason: `RBAC: ${tooMany}` }
  return { allowed: false, reason: missing === undefined ? '' : `RBAC: ${listText([...missing])}` }
}

/** The reason is made for whoever reads it. */
function allowedBy(binding: Binding, asker: Asker): Decision {
  return {
    allowed: true,
    get reason() {
      return `RBAC: allowed by ${bindingText(binding, asker)}`
    },
  }
}

/** What it costs to find the role of a binding, beside a rule. */
const bindingWeight = 30

const tooMany = 'the roles of the user have more rules than are looked at for one request'

function isWithinReach(rule: PolicyRule, look: { work: number }): boolean {
  return (look.work += weightOf(rule)) <= workMax
}

/** All rules that hold for somebody in a namespace, and what of them could not be found. */
export function rulesFor(
  asker: Asker,
  namespace: string,
  book: AccessBook,
): { readonly rules: readonly PolicyRule[]; readonly problem: string } {
  const rules: PolicyRule[] = []
  const missing = new Set<string>()
  for (const binding of new Set(book.bindingsOf(asker, namespace))) {
    const found = book.rulesOf(binding.roleRef, binding.namespace)
    if (found === undefined) missing.add(absenceText(binding))
    else rules.push(...found)
  }
  if (isSuperuser(asker)) rules.push(...everything)
  else if (asker.groups.includes(readerGroup)) rules.push(...reading)
  return { rules, problem: missing.size === 0 ? '' : listText([...missing]) }
}

/** The rules of whoever may do everything. */
export const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

const reading: readonly PolicyRule[] = [
  { verbs: ['get', 'list', 'watch'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['get', 'head'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

function absenceText({ roleRef: { kind, name } }: Binding): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`
}

function listText(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`
}

function bindingText({ kind, name, namespace, roleRef, subjects }: Binding, asker: Asker): string {
  const place = namespace === '' ? name : `${name}/${namespace}`
  const subject = subjects.find((one) => isOf(one, asker, namespace))
  const whom = subject === undefined ? '' : ` to ${subject.kind} ${JSON.stringify(subjectPlace(subject, namespace))}`
  return `${kind} ${JSON.stringify(place)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)}${whom}`
}

function isOf(subject: Subject, { name, groups }: Asker, bindingNamespace: string): boolean {
  if (subject.kind === 'User') return subject.name === name
  if (subject.kind === 'Group') return groups.includes(subject.name)
  return name === serviceAccountUser(subject.namespace || bindingNamespace, subject.name)
}

function subjectPlace({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount' ? `${name}/${namespace || bindingNamespace}` : name
}
