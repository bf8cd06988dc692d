import type { JsonObject } from '../../model/json.ts'

/**
 * How entities of one kind are dealt with on the far side, as plain calls: they are made by the helper, which decides,
 * counts, limits and retries. Each throws HttpError for an answer that is no success; anything else that is thrown
 * counts as an answer that was lost. What is thrown may have a report (`withReport`), which counts for the run of the
 * call. They pass `ctx.signal` on, by their client.
 */
export interface ExternalApi<Client> {
  /** Undefined, or HttpError 404: it is not there. Whoever cannot tell throws: unknown is never "gone". */
  get(client: Client, id: string): Promise<JsonObject | undefined>
  /**
   * The entity of this owner, by a token, a tag or a name that `create` gave it. Left out, a lost answer needs a
   * person.
   */
  find?(client: Client, owner: Owner): Promise<JsonObject | undefined>
  /** Makes it, marked as the owner's. HttpError 409: something is there already. */
  create(client: Client, declared: JsonObject, owner: Owner): Promise<JsonObject>
  /** Makes the declared fields be so, and returns what is there then. */
  update(client: Client, id: string, declared: JsonObject): Promise<JsonObject>
  /** May take its time: the object goes once `get` says that the entity is gone. Called again if that takes long. */
  delete(client: Client, id: string): Promise<void>
  idOf(entity: JsonObject): string
  /**
   * The uid of the object that the entity is marked for. What is marked for nobody is deleted only by the object that
   * has made or adopted it, and remembers its id; what `find` finds must have the mark.
   */
  ownerOf?(entity: JsonObject): string | undefined
  /** Fields that carry the mark: an entity that is adopted need not have it. */
  readonly markedIn?: readonly string[]
  /** Lists whose order says nothing, by their paths. */
  readonly unordered?: readonly string[]
  /** Fields that cannot be changed once it is made: what differs is told, and left. */
  readonly immutable?: readonly string[]
  /** Two creates with one token make one entity, for example where the id is chosen from the token. */
  readonly createsOncePerToken?: boolean
}

/** Whose an entity is. */
export interface Owner {
  readonly uid: string
  readonly kind: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  readonly name: string
  /** The same for every attempt at one entity, another for the next one. */
  readonly token: string
}
