import type { JsonObject } from '../../model/json.ts'

/**
 * `/version`: the Kubernetes release whose conventions are spoken, which clients compare with their own. Google's
 * kubectl picks the binary it runs by it.
 */
export function versionDocument(setpoint: string): JsonObject {
  return {
    major: '1',
    minor: '32',
    gitVersion: `v1.32.0+setpoint.${setpoint}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: '',
  }
}
