import { findSchemaChanges, reportSchemaChange, type SchemaReport } from '../../engine/insight/schema-report.ts'
import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { listPages } from '../../resources/list-pages.ts'
import { definitionsIn } from '../../resources/stored-definitions.ts'

export { reportSchemaChange }

/** So many objects of a kind are looked at in a start. */
const objectsMax = 5_000

/**
 * Says in the log what a start changes in the schemas of kinds, and which stored objects do not fit any more. Looks at
 * objects only of kinds that change.
 */
export async function tellSchemaChanges({ store, controllers, logger }: TellOptions): Promise<void> {
  const stored = new Map((await definitionsIn(store)).map((one) => [one.metadata.name, one]))
  for (const { kind } of controllers)
    await tellOne({ store, logger }, kind, stored.get(kind.definition?.metadata.name ?? ''))
}

interface TellOptions {
  readonly store: ObjectStore
  readonly controllers: readonly Controller[]
  readonly logger: Logger
}

async function tellOne(
  { store, logger }: Pick<TellOptions, 'store' | 'logger'>,
  kind: Controller['kind'],
  before: CustomResourceDefinition | undefined,
): Promise<void> {
  if (findSchemaChanges(kind, before).length === 0) return
  const report = await reportOn(store, kind, before)
  if (report === undefined) return
  const { changes, examples, ...told } = report
  const fields = { ...told, changes: changes.map(({ path, says }) => `${path} ${says}`), examples: [...examples] }
  if (report.invalid > 0) logger.warn('schema changed: some objects do not fit', fields)
  else logger.info('schema changed', fields)
}

/** Page by page, since the objects may be large. */
async function reportOn(
  store: ObjectStore,
  kind: Controller['kind'],
  before: CustomResourceDefinition | undefined,
): Promise<SchemaReport | undefined> {
  let report: SchemaReport | undefined
  for await (const { items } of listPages(store, { group: kind.group, kind: kind.kind })) {
    const objects = items.slice(0, objectsMax - (report?.objects ?? 0)).map(({ object }) => object)
    const ofPage = reportSchemaChange(kind, before, objects)
    report = report && ofPage ? join(report, ofPage) : ofPage
    if (report === undefined || report.objects >= objectsMax) break
  }
  return report
}

const examplesMax = 10

function join(report: SchemaReport, next: SchemaReport): SchemaReport {
  return {
    ...report,
    objects: report.objects + next.objects,
    invalid: report.invalid + next.invalid,
    examples: [...report.examples, ...next.examples].slice(0, examplesMax),
    advice: next.invalid === 0 ? report.advice : next.advice,
  }
}
