import * as z from 'zod'
import { DefinitionError } from '../model/errors.ts'

/** What a reconciler may read and write in AWS Secrets Manager and Parameter Store, by the beginnings of names. */
export interface VaultGrants {
  readonly reads?: readonly VaultPrefix[]
  /** To read, too. */
  readonly writes?: readonly VaultPrefix[]
}

/**
 * Names begin with it. `{namespace}` stands for the namespace of the object that is reconciled: `shop/{namespace}/`.
 * With it, who may write into one namespace has none of another one read.
 */
export type VaultPrefix = { readonly secretsManager: string } | { readonly parameter: string }

const nameOf = (what: string): z.ZodString =>
  z
    .string()
    .max(2_048)
    .regex(/^[\w/+=.@:-]+$/)
    .describe(`The name of the ${what}, or its whole ARN.`)

const targetName = (what: string): z.ZodString =>
  z
    .string()
    .max(512)
    .regex(/^[\w/+=.@-]+$/)
    .describe(`The name of the ${what}. It is made if there is none.`)

const key = z.string().min(1).max(253)

function oneOf(fields: readonly string[], message: string): Readonly<Record<string, unknown>> {
  const count = fields.map((field) => `(has(self.${field}) ? 1 : 0)`).join(' + ')
  return { 'x-kubernetes-validations': [{ rule: `${count} == 1`, message }] }
}

/**
 * For a field of a spec that names a secret value, in a Secret of the namespace or in AWS: `ctx.outside.readSecret`
 * reads it.
 */
export const secretSource = z
  .object({
    secretKeyRef: z
      .object({ name: z.string().max(253).describe('Of a Secret in the same namespace.'), key })
      .optional()
      .describe('A value of a Secret.'),
    secretsManager: z
      .object({
        name: nameOf('secret'),
        key: key.optional().describe('Of the JSON object that the secret holds. Default: the whole text.'),
      })
      .optional()
      .describe('A secret of AWS Secrets Manager.'),
    parameter: z
      .object({ name: nameOf('parameter') })
      .optional()
      .describe('A parameter of AWS Systems Manager.'),
  })
  .meta(
    oneOf(['secretKeyRef', 'secretsManager', 'parameter'], 'name one of secretKeyRef, secretsManager and parameter'),
  )

export type SecretSource = z.output<typeof secretSource>

const onlyKey = key.optional().describe('Only this value is kept, as it is. Default: all, as a JSON object.')

/** For a field of a spec that says where in AWS values are to be kept: `ctx.outside.keepSecret` keeps them. */
export const secretTarget = z
  .object({
    secretsManager: z
      .object({ name: targetName('secret'), key: onlyKey })
      .optional()
      .describe('A secret of AWS Secrets Manager.'),
    parameter: z
      .object({ name: targetName('parameter'), key: onlyKey })
      .optional()
      .describe('A SecureString of AWS Systems Manager.'),
  })
  .meta(oneOf(['secretsManager', 'parameter'], 'name one of secretsManager and parameter'))

export type SecretTarget = z.output<typeof secretTarget>

const prefixPattern = /^[\w+=.@-]+(\/[\w+=.@-]+|\/\{namespace\})*\/$/

/** The grants, if they are some. Throws a DefinitionError. */
export function checkVaultGrants(reconciler: string, grants: VaultGrants): VaultGrants {
  for (const prefix of [...(grants.reads ?? []), ...(grants.writes ?? [])]) {
    const [name = ''] = Object.values(prefix)
    if (!prefixPattern.test(name))
      throw new DefinitionError(
        `${reconciler}: vault: ${JSON.stringify(name)} must be the beginning of names, such as shop/{namespace}/: with a slash at its end and none ahead`,
      )
  }
  return grants
}
