import type { AccessBook, Asker, Binding } from './access-book.ts'
import { ruleAllows } from './rule-allows.ts'
import type { Attributes, PolicyRule, Subject } from './rules.ts'

/** Whether somebody may do something, and why; nothing is said of what simply nobody has allowed. */
export interface Decision {
  readonly allowed: boolean
  readonly reason: string
}

/** Whoever is in it may do everything, whatever roles there are. */
const superuserGroup = 'system:masters'

/** Deny by default: allowed is what a rule of one of the user's roles allows. */
export function authorize(asker: Asker, wanted: Attributes, book: AccessBook): Decision {
  if (asker.groups.includes(superuserGroup)) return { allowed: true, reason: '' }
  const namespace = wanted.path === undefined ? wanted.namespace : ''
  let missing: Set<string> | undefined
  for (const binding of book.bindingsOf(asker, namespace)) {
    const rules = book.rulesOf(binding.roleRef, binding.namespace)
    if (rules === undefined) (missing ??= new Set()).add(absenceText(binding))
    else if (rules.some((rule) => ruleAllows(rule, wanted)))
      return { allowed: true, reason: `RBAC: allowed by ${bindingText(binding, asker)}` }
  }
  return { allowed: false, reason: missing === undefined ? '' : `RBAC: ${listText([...missing])}` }
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
  if (asker.groups.includes(superuserGroup)) rules.push(...everything)
  return { rules, problem: missing.size === 0 ? '' : listText([...missing]) }
}

/** The rules of whoever may do everything. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
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
  return name === `system:serviceaccount:${subject.namespace || bindingNamespace}:${subject.name}`
}

function subjectPlace({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount' ? `${name}/${namespace || bindingNamespace}` : name
}
