/**
 * Where STS answers. A token names the host that is asked about it, so it must be one of these, as a whole: who could
 * choose another would be asked instead. Partitions of AWS have accounts of their own, and two may have one number. So
 * only STS of the partition that the function is in is asked. Source: AWS General Reference, "AWS Security Token
 * Service endpoints and quotas".
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
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
]
const fips = ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2']

interface Partition {
  /** How the names of its Regions begin. */
  readonly begin: string
  readonly suffix: string
  readonly regions: readonly string[]
  /** Hosts beside those of Regions. */
  readonly others?: readonly string[]
}

const partitions: readonly Partition[] = [
  { begin: 'cn-', suffix: 'amazonaws.com.cn', regions: ['cn-north-1', 'cn-northwest-1'] },
  { begin: 'us-gov-', suffix: 'amazonaws.com', regions: ['us-gov-east-1', 'us-gov-west-1'] },
  { begin: 'eusc-', suffix: 'amazonaws.eu', regions: ['eusc-de-east-1'] },
]

const usual: Partition = {
  begin: '',
  suffix: 'amazonaws.com',
  regions,
  others: ['sts.amazonaws.com', ...fips.map((region) => `sts-fips.${region}.amazonaws.com`)],
}

/**
 * The hosts of STS in the partition of a Region, and that of the Region itself, though it is newer than this list.
 * Where none is said, those of the partition that most Regions are in.
 */
export function stsHostsOf(region = ''): ReadonlySet<string> {
  const { suffix, regions: known, others = [] } = partitions.find(({ begin }) => region.startsWith(begin)) ?? usual
  const all = /^[a-z\d]+(?:-[a-z\d]+)+$/.test(region) ? [...known, region] : known
  return new Set([...others, ...all.map((one) => `sts.${one}.${suffix}`)])
}
