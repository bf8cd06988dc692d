import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { JsonObject } from '../../../shared/index.ts'
import { customResourceDefinitionKind, namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import { createSimTable } from './sim-table.ts'
import { clearSky } from '../climate.ts'
import { Crate } from '../kinds/crate.ts'
import { Errand } from '../kinds/errand.ts'
import { Gadget } from '../kinds/gadget.ts'
import { Kit } from '../kinds/kit.ts'
import { Ledger } from '../kinds/ledger.ts'
import { Shelf } from '../kinds/shelf.ts'
import { Trunk } from '../kinds/trunk.ts'
import { Link } from '../kinds/link.ts'
import { Parcel } from '../kinds/parcel.ts'
import { Pass } from '../kinds/pass.ts'
import { Deed } from '../kinds/deed.ts'
import { Relic } from '../kinds/relic.ts'
import { Tenant } from '../kinds/tenant.ts'
import { Witness } from '../kinds/witness.ts'
import { createLife } from '../life.ts'
import type { Scenario } from '../scenario.ts'
import { createWorld } from '../world.ts'

const known = new Map<string, Promise<readonly StoredObject[]>>()

/**
 * What has been there for long: the default namespace and the definitions of the kinds. Made once per process: it is
 * the same for all seeds.
 */
export function basicItems({ steps, herd }: Scenario): Promise<readonly StoredObject[]> {
  const wanted = [
    Gadget,
    ...(herd > 0 || steps.some(({ kind }) => kind === 'Link') ? [Link] : []),
    ...(steps.some(({ kind }) => kind === 'Crate') ? [Crate] : []),
    ...(steps.some(({ kind }) => kind === 'Witness') ? [Witness] : []),
    ...(steps.some(({ kind }) => kind === 'Parcel') ? [Parcel] : []),
    ...(steps.some(({ kind }) => kind === 'Errand') ? [Errand] : []),
    ...(steps.some(({ kind }) => kind === 'Kit') ? [Kit] : []),
    ...(steps.some(({ kind }) => kind === 'Pass') ? [Pass] : []),
    ...(steps.some(({ kind }) => kind === 'Relic') ? [Relic] : []),
    ...(steps.some(({ kind }) => kind === 'Ledger') ? [Ledger] : []),
    ...(steps.some(({ kind }) => kind === 'Deed') ? [Deed] : []),
    ...(steps.some(({ kind }) => kind === 'Tenant') ? [Tenant] : []),
    ...(steps.some(({ kind }) => kind === 'Shelf') ? [Shelf] : []),
    ...(steps.some(({ kind }) => kind === 'Trunk') ? [Trunk] : []),
  ]
  const name = wanted.map(({ kind }) => kind).join(' ')
  const items = known.get(name) ?? install(wanted.map(({ definition }) => definition as unknown as JsonObject))
  known.set(name, items)
  return items
}

async function install(definitions: readonly JsonObject[]): Promise<readonly StoredObject[]> {
  const world = createWorld(1)
  const life = createLife({ world, name: 'setup', version: 1, skewMs: () => 0 })
  const table = createSimTable({ world, climate: clearSky, onWrite: () => {} })
  const resources = createResources({ store: table.storeOf(life), clock: world, random: world.random })
  const manager = { manager: 'setpoint' }
  await resources.create(namespaceKind, { metadata: { name: 'default' } }, manager)
  for (const body of definitions) {
    const { name } = body['metadata'] as { readonly name: string }
    await resources.patch(customResourceDefinitionKind, { name }, { type: 'apply', body, force: true }, manager)
  }
  return [...table.items.values()]
}
