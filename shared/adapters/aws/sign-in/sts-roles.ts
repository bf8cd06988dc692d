import type { STSClientConfig } from '@aws-sdk/client-sts'
import { OperatingError } from '../../../model/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { RoleCredentials, RoleRequest, Roles } from '../../../ports/roles.ts'
import { clientTimeouts } from '../client/client-timeouts.ts'
import { loadOnce } from '../../../model/load-once.ts'
import { serviceFailure } from '../client/service-failure.ts'

export interface StsRolesOptions {
  readonly client: STSClientConfig
  readonly clock: Clock
}

/** The most that STS gives to who has come in by a role himself, as a function has. */
const durationSeconds = 3_600
/** Credentials end for us so long before they do for AWS. */
const earlyMs = 60_000
/** Sessions that are kept; the one that was asked for longest ago goes first. */
const sessionsMax = 1_000

interface Session {
  readonly asked: Promise<RoleCredentials>
  /** Undefined until it is there. */
  expiresAtMs?: number
}

/** Roles of AWS, by STS. Each session is asked for once, by all runs of this process that want it. */
export function createStsRoles({ client: config, clock }: StsRolesOptions): Roles {
  const sessions = new Map<string, Session>()
  // Most functions take no role, and need not load it.
  const load = loadOnce(async () => {
    const sdk = await import('@aws-sdk/client-sts')
    const requestHandler = clientTimeouts({ connectMs: 1_000, answerMs: 3_000 })
    return { sdk, client: new sdk.STSClient({ requestHandler, ...config }) }
  })

  async function ask(request: RoleRequest): Promise<RoleCredentials> {
    const { roleArn: RoleArn, sessionName: RoleSessionName, externalId, tags } = request
    const { sdk, client } = await load()
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))
    const command = new sdk.AssumeRoleCommand({
      RoleArn,
      RoleSessionName,
      DurationSeconds: durationSeconds,
      ...(externalId !== undefined && { ExternalId: externalId }),
      ...(Tags.length > 0 && { Tags }),
    })
    const { Credentials: given } = await client.send(command).catch((error: unknown): never => {
      throw failureOf(error, request)
    })
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = given ?? {}
    if (AccessKeyId === undefined || SecretAccessKey === undefined || SessionToken === undefined)
      throw new OperatingError('UNAVAILABLE', `STS gave no credentials for ${RoleArn}`)
    const expiresAtMs = Expiration?.getTime() ?? clock.nowMs() + durationSeconds * 1_000
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken, expiresAtMs }
  }

  function open(key: string, request: RoleRequest): Session {
    const session: Session = { asked: ask(request) }
    const forget = (): void => {
      if (sessions.get(key) === session) sessions.delete(key)
    }
    session.asked.then(({ expiresAtMs }) => (session.expiresAtMs = expiresAtMs), forget)
    return session
  }

  return {
    assume: (request, untilMs) => {
      const key = JSON.stringify(request)
      const known = sessions.get(key)
      const isGood = known !== undefined && (known.expiresAtMs ?? Infinity) - earlyMs >= untilMs
      const session = isGood ? known : open(key, request)
      sessions.delete(key)
      sessions.set(key, session)
      for (const oldest of sessions.keys()) {
        if (sessions.size <= sessionsMax) break
        sessions.delete(oldest)
      }
      return session.asked
    },
  }
}

function failureOf(error: unknown, { roleArn, sessionName, externalId }: RoleRequest): OperatingError {
  const { name = '' } = error instanceof Error ? error : {}
  if (name !== 'AccessDenied' && name !== 'AccessDeniedException')
    return serviceFailure(error, `assume the role ${roleArn}`)
  const asked = externalId === undefined ? 'no external id' : `the external id ${externalId}`
  return new OperatingError(
    'UNAVAILABLE',
    `the role ${roleArn} may not be assumed by the session ${sessionName} with ${asked}: its trust policy must let the function's role do sts:AssumeRole and sts:TagSession, and the Controller must name it in assumes`,
    { cause: error },
  )
}
