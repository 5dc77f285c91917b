-- What a machine went through is asked across jobs: which hosts and GPUs each finding of
-- model/cause.h's is_of_a_machine() is about. Every host of a finding has a row without a GPU.
CREATE TABLE finding_parts (
  host    TEXT NOT NULL,
  gpu     TEXT NOT NULL,                 -- 0000:3b:00.0; '': the host
  finding INTEGER NOT NULL REFERENCES findings (number) ON DELETE CASCADE,
  PRIMARY KEY (host, gpu, finding)
) STRICT, WITHOUT ROWID;
CREATE INDEX finding_parts_by_finding ON finding_parts (finding);

-- Whether the diagnosis of its job, as it last was, blamed it. Findings from before this step are
-- judged anew when the service starts.
ALTER TABLE findings ADD COLUMN blamed INTEGER NOT NULL DEFAULT 0;

INSERT OR IGNORE INTO finding_parts
  SELECT value, '', number FROM findings, json_each(body, '$.subject.hosts')
  WHERE (cause GLOB 'host.*' OR cause GLOB 'gpu.*' OR cause GLOB 'pcie.*' OR cause GLOB 'network.*'
         OR cause = 'software.gpu_memory_fault') AND cause <> 'gpu.teardown' AND value <> '';
INSERT OR IGNORE INTO finding_parts
  SELECT substr(value, 1, instr(value, '/') - 1), substr(value, instr(value, '/') + 1), number
  FROM findings, json_each(body, '$.subject.gpus')
  WHERE (cause GLOB 'host.*' OR cause GLOB 'gpu.*' OR cause GLOB 'pcie.*' OR cause GLOB 'network.*'
         OR cause = 'software.gpu_memory_fault') AND cause <> 'gpu.teardown'
        AND instr(value, '/') > 1 AND value NOT GLOB 'unknown-host/*';
INSERT OR IGNORE INTO finding_parts SELECT host, '', finding FROM finding_parts WHERE gpu <> '';
