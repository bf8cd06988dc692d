import { createHmac, randomBytes } from 'node:crypto'
import { Secret, type Context, type SecretObject } from '../../../shared/index.ts'
import type { Endpoint } from './sql/connection.ts'

/** Secrets of this reconciler's making: a password is chosen once, stored before it is used, and kept from then on. */

/** The password in a Secret, or the one that `choose` gives if there is none yet. */
export async function keepOrChoosePassword(
  ctx: Context,
  secretName: string,
  choose: () => string = () => randomBytes(18).toString('base64url'),
): Promise<string> {
  const kept = await ctx.get(Secret, secretName)
  return (kept && secretText(kept, 'password')) || choose()
}

/**
 * The password of a role that belongs to this object: the same each time, so that a Secret that somebody deleted comes
 * back as it was, and nobody who is logged in with it is shut out. It is kept nowhere else: it follows from the
 * superuser's password, which does not follow from it.
 */
export function derivePassword(
  superuserPassword: string,
  { uid, role }: { readonly uid: string; readonly role: string },
) {
  const bytes = createHmac('sha256', superuserPassword).update(`setpoint role ${role} of ${uid}`).digest()
  return bytes.subarray(0, 18).toString('base64url')
}

/** One value of a Secret as text; empty if it is not there. */
export function secretText(secret: SecretObject, field: string): string {
  return Buffer.from(secret.data?.[field] ?? '', 'base64').toString()
}

/** Stores a Secret that goes with the object. Where the server is and who logs in stays readable in messages. */
export async function keepSecret(ctx: Context, name: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const annotations = { 'setpoint.dev/public-keys': 'host,port,database,username' }
  await ctx.apply(Secret, { metadata: { name, annotations }, type: 'setpoint.dev/postgres', stringData: fields })
}

/** The endpoint as clients take it. A password that somebody chose may be any text: it never reads as another host. */
export function connectionUrl({ host, port, user, password, database }: Endpoint): string {
  return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}/${encodeURIComponent(database)}`
}
