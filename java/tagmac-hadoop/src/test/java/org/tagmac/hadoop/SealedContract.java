package org.tagmac.hadoop;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** Options of Hadoop's own tests. */
final class SealedContract extends AbstractFSContract {
    private FileSystem fs;

    SealedContract(Configuration conf) {
        super(conf);
        addConfResource("contract/tagmac.xml");
    }

    @Override
    public void init() throws IOException {
        super.init();
        fs = new SealingFileSystem();
        fs.initialize(URI.create("tagmac://photos"), getConf());
    }

    @Override
    public FileSystem getTestFileSystem() {
        return fs;
    }

    @Override
    public String getScheme() {
        return "tagmac";
    }

    @Override
    public Path getTestPath() {
        return new Path("tagmac", "photos", "/test");
    }
}
