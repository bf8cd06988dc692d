/** What CloudFormation answers a DescribeStacks of one stack, by its wire protocol. */
export function stacksXml(status: string): string {
  const stack = `<StackName>Test</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>${status}</StackStatus>`
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>${stack}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`
}
