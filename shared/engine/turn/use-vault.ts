import { bytesFromBase64 } from '../../model/base64.ts'
import { OperatingError } from '../../model/errors.ts'
import { isObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { parseJson } from '../../model/parse-json.ts'
import type { Vault, VaultEntry, VaultOwner } from '../../ports/vault.ts'
import { Secret, type SecretObject } from '../../reconciler/built-in-kinds.ts'
import type { Context } from '../../reconciler/context.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { SecretSource, SecretTarget } from '../../reconciler/secret-source.ts'
import type { VaultPrefix } from '../../reconciler/vault-grants.ts'
import type { ObservedRun } from '../insight/run-observer.ts'
import type { EngineOptions } from './engine-options.ts'

/** What one run has in hand for secrets outside of this control plane. */
export interface UsingVault {
  readonly controller: Pick<Controller, 'name' | 'vault'>
  /** The object that is reconciled. */
  readonly object: ApiObject
  readonly engine: Pick<EngineOptions, 'vault'>
  readonly seen: Pick<ObservedRun, 'noteSecret'>
  readonly get: Context['get']
}

/** The text that a field of a spec names. */
export async function readSecretSource(source: SecretSource, run: UsingVault): Promise<string> {
  const { secretKeyRef, secretsManager } = source
  if (secretKeyRef !== undefined) return readKey(secretKeyRef, await run.get(Secret, secretKeyRef.name))
  const entry = entryOf(source)
  requireGrant(entry, 'read', run)
  const text = await vaultOf(run).read(entry)
  if (text === undefined) throw new OperatingError('UNAVAILABLE', `there is no ${nameOf(entry)}`)
  noteTexts(text, run)
  return secretsManager?.key === undefined ? text : pick(text, secretsManager.key, entry)
}

/** Makes an entry of AWS hold the values. */
export async function keepInVault(
  target: SecretTarget,
  data: Readonly<Record<string, string>>,
  run: UsingVault,
): Promise<void> {
  const entry = entryOf(target)
  requireGrant(entry, 'write', run)
  run.seen.noteSecret({ stringData: data })
  const text = textOf(target, data, entry)
  noteTexts(text, run)
  if ((await vaultOf(run).write(entry, text, ownerOf(run))) === 'foreign') throw foreign(entry, run)
}

/** Removes what `keepSecret` has made for this object. What is somebody else's stays. */
export async function removeFromVault(target: SecretTarget, run: UsingVault): Promise<void> {
  const entry = entryOf(target)
  requireGrant(entry, 'write', run)
  await vaultOf(run).remove(entry, ownerOf(run))
}

function readKey({ name, key }: NonNullable<SecretSource['secretKeyRef']>, secret: SecretObject | undefined): string {
  const value = secret?.data?.[key]
  if (value !== undefined) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesFromBase64(value))
  const missing = secret === undefined ? `there is no Secret ${name}` : `the Secret ${name} has no ${key}`
  throw new OperatingError('UNAVAILABLE', missing)
}

function entryOf({ secretsManager, parameter }: Omit<SecretSource, 'secretKeyRef'>): VaultEntry {
  if (secretsManager !== undefined) return { secretsManager: secretsManager.name }
  if (parameter !== undefined) return { parameter: parameter.name }
  throw new OperatingError('INVALID', 'nothing is named: give one of secretKeyRef, secretsManager and parameter')
}

/** For messages. */
function nameOf(entry: VaultEntry): string {
  return 'parameter' in entry ? `parameter ${entry.parameter}` : `secret ${entry.secretsManager} in Secrets Manager`
}

function vaultOf({ engine: { vault } }: UsingVault): Vault {
  if (vault !== undefined) return vault
  throw new OperatingError(
    'UNAVAILABLE',
    'Secrets Manager and Parameter Store are for control planes on AWS: name a Secret (secretKeyRef), or give a test a vault (createTestVault)',
  )
}

function ownerOf({ controller: { name }, object }: UsingVault): VaultOwner {
  return { uid: object.metadata.uid, controller: name }
}

function requireGrant(entry: VaultEntry, access: 'read' | 'write', { controller, object }: UsingVault): void {
  const { reads = [], writes = [] } = controller.vault ?? {}
  const { namespace } = object.metadata
  const service = 'parameter' in entry ? 'parameter' : 'secretsManager'
  const prefixes = (access === 'write' ? writes : [...reads, ...writes])
    .flatMap((prefix) => prefixOf(prefix, service))
    .filter((prefix) => namespace !== undefined || !prefix.includes(namespacePart))
    .map((prefix) => prefix.replaceAll(namespacePart, namespace ?? ''))
  const name = plainName(Object.values(entry)[0] ?? '')
  if (prefixes.some((prefix) => name.startsWith(prefix) && name !== prefix)) return
  const allowed = prefixes.length === 0 ? 'none' : `those whose names begin with ${prefixes.join(' or ')}`
  const field = access === 'write' ? 'writes' : 'reads'
  throw new OperatingError(
    'FORBIDDEN',
    `the reconciler ${controller.name} may not ${access} the ${nameOf(entry)} here, but ${allowed}: the ${field} of its vault say so`,
  )
}

const namespacePart = '{namespace}'

function prefixOf(prefix: VaultPrefix, service: 'secretsManager' | 'parameter'): readonly string[] {
  const { [service]: name } = prefix as Partial<Record<typeof service, string>>
  return name === undefined ? [] : [name]
}

/** Without what an ARN puts ahead of it, and without the slash that names of parameters begin with. */
function plainName(name: string): string {
  return name.replace(/^arn:[\w-]+:(secretsmanager|ssm):[\w-]*:\d*:(secret:|parameter)/, '').replace(/^\//, '')
}

/** All texts in it, so that no text of the run tells one. */
function noteTexts(text: string, { seen }: UsingVault): void {
  const fields = Object.entries(fieldsOf(text) ?? {}).filter(
    (field): field is [string, string] => typeof field[1] === 'string',
  )
  seen.noteSecret({ stringData: { ...Object.fromEntries(fields), [wholeText]: text } })
}

/** No key that a secret's own could be. */
const wholeText = ' '

function fieldsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch (error) {
    // Most are no JSON. The error would tell a part of it.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function pick(text: string, key: string, entry: VaultEntry): string {
  const fields = fieldsOf(text)
  if (fields === undefined)
    throw new OperatingError('UNAVAILABLE', `the ${nameOf(entry)} is no JSON object, so it has no ${key}`)
  const value = fields[key]
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new OperatingError('UNAVAILABLE', `the ${nameOf(entry)} has no text ${key}`)
}

function textOf(target: SecretTarget, data: Readonly<Record<string, string>>, entry: VaultEntry): string {
  const { key } = target.secretsManager ?? target.parameter ?? {}
  if (key === undefined)
    return JSON.stringify(Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))))
  const value = data[key]
  if (value !== undefined) return value
  throw new OperatingError(
    'INVALID',
    `there is no ${key} to keep in the ${nameOf(entry)}, but ${Object.keys(data).join(', ')}`,
  )
}

function foreign(entry: VaultEntry, run: UsingVault): OperatingError {
  const { uid, controller } = ownerOf(run)
  return new OperatingError(
    'ALREADY_EXISTS',
    `the ${nameOf(entry)} is not of this object: to hand it over, tag it setpoint:owner=${uid} and setpoint:controller=${controller}`,
  )
}
