import type { JsonObject } from '../../../../shared/index.ts'
import type { ProviderWait } from '../provider.ts'
import { codeOfError, controlFailure } from './control-failure.ts'
import type { Connect, RdsRequests } from './requests.ts'

/**
 * The resources of one type, by the Cloud Control API. What changes them is a request, which goes on after the call.
 */
export interface RdsResources<Properties> {
  readonly typeName: string
  /** `undefined` only if AWS says that there is none. What is write-only is not among the properties. */
  find(identifier: string): Promise<Properties | undefined>
  create(desired: JsonObject, requests: RdsRequests): Promise<ProviderWait>
  /** Sets these properties; others stay. */
  update(identifier: string, properties: JsonObject, requests: RdsRequests): Promise<ProviderWait>
  remove(identifier: string, requests: RdsRequests): Promise<ProviderWait>
}

export function resourcesOf<Properties>(TypeName: string, connect: Connect): RdsResources<Properties> {
  return {
    typeName: TypeName,
    find: async (Identifier) => {
      const cloudControl = await connect()
      const answer = await cloudControl.getResource({ TypeName, Identifier }).catch((error: unknown) => {
        const code = codeOfError(error)
        if (code === 'ResourceNotFound') return { ResourceDescription: undefined }
        throw controlFailure(code, `read ${TypeName}`, error as Error)
      })
      const properties = answer.ResourceDescription?.Properties
      return properties === undefined ? undefined : (JSON.parse(properties) as Properties)
    },
    create: (desired, requests) =>
      requests.begin({ operation: 'CREATE', TypeName, content: desired }, (cloudControl, ClientToken) =>
        cloudControl.createResource({ TypeName, ClientToken, DesiredState: JSON.stringify(desired) }),
      ),
    update: (Identifier, properties, requests) => {
      const patch = Object.entries(properties).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
      const PatchDocument = JSON.stringify(patch)
      return requests.begin({ operation: 'UPDATE', TypeName, content: properties }, (cloudControl, ClientToken) =>
        cloudControl.updateResource({ TypeName, Identifier, ClientToken, PatchDocument }),
      )
    },
    remove: (Identifier, requests) =>
      requests.begin({ operation: 'DELETE', TypeName, content: { Identifier } }, (cloudControl, ClientToken) =>
        cloudControl.deleteResource({ TypeName, Identifier, ClientToken }),
      ),
  }
}
