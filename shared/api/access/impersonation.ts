import { authenticatedGroup, serviceAccountGroups } from '../../model/access/authorize.ts'
import type { Eventual } from '../../model/eventual.ts'
import type { ResourceAttributes } from '../../model/access/rules.ts'
import { OperatingError } from '../../model/errors.ts'
import type { User } from '../../ports/authenticator.ts'
import type { HeaderField, HttpRequest } from '../../ports/http-handler.ts'
import { decideAgain, requireAllowed, type ReadAccess } from './guard.ts'

/**
 * In whose name a request runs: the sender's, or that of somebody else whom it names (`kubectl --as`), if the sender
 * may impersonate each part of what it names. Throws FORBIDDEN, and BAD_REQUEST for a header that nobody knows: to run
 * with more rights than were asked for is worse than not to run.
 */
export function actingUser(request: HttpRequest, sender: User, readAccess: ReadAccess): Eventual<User> {
  const fields = request.fieldsUnder('impersonate-')
  return fields.length === 0 ? sender : impersonate(fields, sender, readAccess)
}

async function impersonate(fields: readonly HeaderField[], sender: User, readAccess: ReadAccess): Promise<User> {
  const named = namedBy(fields)
  for (const wanted of partsOf(named)) requireAllowed(await decideAgain(sender, wanted, readAccess), sender, wanted)
  return { ...named, groups: completeGroups(named) }
}

function namedBy(fields: readonly HeaderField[]): User {
  const valuesOf = (wanted: string): readonly string[] =>
    fields.filter(([name]) => name === wanted).map(([, value]) => decodeHeader(value))
  const [name = '', ...others] = valuesOf('impersonate-user')
  const [uid, ...otherUids] = valuesOf('impersonate-uid')
  if (others.length + otherUids.length > 0)
    throw new OperatingError('BAD_REQUEST', 'a request can be in the name of one user')
  if (name === '')
    throw new OperatingError('BAD_REQUEST', `requested ${JSON.stringify(fields)} without impersonating a user`)
  const extra = extraOf(fields)
  return {
    name,
    groups: valuesOf('impersonate-group'),
    ...(uid === undefined || uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

const extraPrefix = 'impersonate-extra-'
const known: readonly string[] = ['impersonate-user', 'impersonate-group', 'impersonate-uid']

function extraOf(fields: readonly HeaderField[]): Record<string, readonly string[]> {
  const extra: Record<string, string[]> = Object.create(null) as Record<string, string[]>
  for (const [name, value] of fields.filter((field) => !known.includes(field[0]))) {
    if (!name.startsWith(extraPrefix) || name === extraPrefix)
      throw new OperatingError('BAD_REQUEST', `the header ${JSON.stringify(name)} is not known`)
    const key = decodeKey(name.slice(extraPrefix.length))
    extra[key] = [...(extra[key] ?? []), decodeHeader(value)]
  }
  return extra
}

/** Clients send names in UTF-8, and a server reads a header as one character for each byte. */
function decodeHeader(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\x20-\xff]/.test(value)) return value
  try {
    return utf8.decode(Uint8Array.from(value, (byte) => byte.charCodeAt(0)))
  } catch {
    return value
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What is not percent-encoded stands for itself, as in Kubernetes. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

const group = 'authentication.k8s.io'

/** What has to be allowed, one by one. */
function partsOf({ name, groups, uid, extra = {} }: User): readonly ResourceAttributes[] {
  const part = (resource: string, value: string, rest: Partial<ResourceAttributes> = {}): ResourceAttributes => {
    return { verb: 'impersonate', group: '', resource, subresource: '', namespace: '', name: value, ...rest }
  }
  const account = accountOf(name)
  return [
    account === undefined
      ? part('users', name)
      : part('serviceaccounts', account.name, { namespace: account.namespace }),
    ...groups.map((one) => part('groups', one)),
    ...(uid === undefined ? [] : [part('uids', uid, { group })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => part('userextras', value, { group, subresource: key })),
    ),
  ]
}

function accountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

/** The groups that come with a user: of a ServiceAccount its own, unless others are named. */
function completeGroups({ name, groups }: User): readonly string[] {
  if (name === 'system:anonymous')
    return groups.includes(unauthenticatedGroup) ? groups : [...groups, unauthenticatedGroup]
  const account = accountOf(name)
  const named = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups
  const isComplete = named.includes(authenticatedGroup) || named.includes(unauthenticatedGroup)
  return isComplete ? named : [...named, authenticatedGroup]
}

const unauthenticatedGroup = 'system:unauthenticated'
