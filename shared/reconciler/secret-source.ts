import * as z from 'zod'

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
 * reads it. A rule holds it to one of the three; zod's `extend`, `pick` and the like make another schema without it.
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
