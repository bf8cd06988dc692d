import { reportFit, reportSchemaChange } from '../../engine/insight/schema-report.ts'
import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { kindsBroughtBy, type Controller } from '../../reconciler/controller.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { listPages } from '../../resources/list-pages.ts'
import { definitionsIn } from '../../resources/stored-definitions.ts'

export { kindsBroughtBy, reportFit, reportSchemaChange }

/** So many objects of a kind are looked at in a start. */
const objectsMax = 5_000

/**
 * Says in the log what a start changes in the schemas of kinds, and which stored objects do not fit any more. Looks at
 * objects only of kinds that change.
 */
export async function tellSchemaChanges({ store, controllers, logger }: TellOptions): Promise<void> {
  const stored = new Map((await definitionsIn(store)).map((one) => [one.metadata.name, one]))
  for (const kind of kindsBroughtBy(controllers))
    await tellOne({ store, logger }, kind, stored.get(kind.definition?.metadata.name ?? ''))
}

interface TellOptions {
  readonly store: ObjectStore
  readonly controllers: readonly Controller[]
  readonly logger: Logger
}

async function tellOne(
  { store, logger }: Pick<TellOptions, 'store' | 'logger'>,
  kind: Kind,
  before: CustomResourceDefinition | undefined,
): Promise<void> {
  const report = await reportSchemaChange(kind, before, pagesOf(store, kind))
  if (report === undefined) return
  const { changes, examples, ...told } = report
  const fields = { ...told, changes: changes.map(({ path, says }) => `${path} ${says}`), examples: [...examples] }
  if (report.invalid > 0) logger.warn('schema changed: some objects do not fit', fields)
  else logger.info('schema changed', fields)
}

async function* pagesOf(store: ObjectStore, { group, kind }: Kind): AsyncGenerator<readonly ApiObject[]> {
  let left = objectsMax
  for await (const { items } of listPages(store, { group, kind })) {
    yield items.slice(0, left).map(({ object }) => object)
    left -= items.length
    if (left <= 0) return
  }
}
