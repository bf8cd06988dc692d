import { randomBytes } from 'node:crypto'
import { Secret, type Context, type SecretObject } from '../../../shared/index.ts'
import type { Endpoint } from './sql/connection.ts'

/** Secrets of this reconciler's making: a password is chosen once, stored before it is used, and kept from then on. */

/** The password in a Secret, or a new one if there is none yet. */
export async function keepOrChoosePassword(ctx: Context, secretName: string): Promise<string> {
  const kept = await ctx.get(Secret, secretName)
  return (kept && secretText(kept, 'password')) || randomBytes(18).toString('base64url')
}

/** One value of a Secret as text; empty if it is not there. */
export function secretText(secret: SecretObject, field: string): string {
  return Buffer.from(secret.data?.[field] ?? '', 'base64').toString()
}

/** Stores a Secret that goes with the object. */
export async function keepSecret(ctx: Context, name: string, fields: Readonly<Record<string, string>>): Promise<void> {
  await ctx.apply(Secret, { metadata: { name }, type: 'setpoint.dev/postgres', stringData: fields })
}

/** The endpoint as clients take it. A password that somebody chose may be any text: it never reads as another host. */
export function connectionUrl({ host, port, user, password, database }: Endpoint): string {
  return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}/${encodeURIComponent(database)}`
}
