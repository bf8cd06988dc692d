/**
 * Where STS answers. A token names the host that is asked about it, so it must be one of these, as a whole: who could
 * choose another would be asked instead. Partitions of AWS have accounts of their own, and two may have one number: only
 * STS of the partition that the function is in is asked. Source: AWS General Reference, "AWS Security Token Service
 * endpoints and quotas".
 */
const regions = [
  'af-south-1',
  'ap-east-1',
  'ap-east-2',
  'ap-northeast-1',
  'ap-northeast-2',
  'ap-northeast-3',
  'ap-south-1',
  'ap-south-2',
  'ap-southeast-1',
  'ap-southeast-2',
  'ap-southeast-3',
  'ap-southeast-4',
  'ap-southeast-5',
  'ap-southeast-6',
  'ap-southeast-7',
  'ca-central-1',
  'ca-west-1',
  'eu-central-1',
  'eu-central-2',
  'eu-north-1',
  'eu-south-1',
  'eu-south-2',
  'eu-west-1',
  'eu-west-2',
  'eu-west-3',
  'il-central-1',
  'me-central-1',
  'me-south-1',
  'me-west-1',
  'mx-central-1',
  'sa-east-1',
  'sa-west-1',
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
]
const fips = ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2']

const hosts: ReadonlySet<string> = new Set([
  'sts.amazonaws.com',
  ...regions.map((region) => `sts.${region}.amazonaws.com`),
  ...fips.map((region) => `sts-fips.${region}.amazonaws.com`),
])

/** Of the other partitions, by how the names of their Regions begin. */
const elsewhere: readonly (readonly [begin: string, hosts: ReadonlySet<string>])[] = [
  ['cn-', new Set(['cn-north-1', 'cn-northwest-1'].map((region) => `sts.${region}.amazonaws.com.cn`))],
  ['us-gov-', new Set(['us-gov-east-1', 'us-gov-west-1'].map((region) => `sts.${region}.amazonaws.com`))],
  ['eusc-', new Set(['sts.eusc-de-east-1.amazonaws.eu'])],
]

/** The hosts of STS in the partition of a Region; in that of most Regions, where none is said. */
export function stsHostsOf(region = ''): ReadonlySet<string> {
  return elsewhere.find(([begin]) => region.startsWith(begin))?.[1] ?? hosts
}
