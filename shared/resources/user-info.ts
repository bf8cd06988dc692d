import type { JsonObject } from '../model/json.ts'
import type { User } from '../ports/authenticator.ts'

/** A user as `authentication.k8s.io/v1` writes one: for reviews, policies and webhooks. */
export function userInfoOf({ name, groups, uid, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    ...(extra === undefined
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, all]) => [key, [...all]])) }),
  }
}
