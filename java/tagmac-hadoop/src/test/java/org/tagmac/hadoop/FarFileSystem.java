package org.tagmac.hadoop;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Files of this machine under the scheme of another store. */
public class FarFileSystem extends FilterFileSystem {
    /** Makes a file system. */
    public FarFileSystem() {
        super(new RawLocalFileSystem());
    }

    @Override
    public void initialize(URI name, Configuration conf) throws IOException {
        fs.initialize(URI.create("file:///"), conf);
        setConf(conf);
    }

    @Override
    public URI getUri() {
        return URI.create("far://store");
    }

    @Override
    public Path makeQualified(Path path) {
        return path.makeQualified(getUri(), new Path("/"));
    }

    @Override
    protected void checkPath(Path path) {}

    private static Path local(Path path) {
        return new Path("file", null, path.toUri().getPath());
    }

    private static FileStatus far(FileStatus status) {
        status.setPath(new Path("far", "store", status.getPath().toUri().getPath()));
        return status;
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return fs.open(local(path), bufferSize);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        return far(fs.getFileStatus(local(path)));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        FileStatus[] found = fs.listStatus(local(path));
        for (FileStatus status : found) {
            far(status);
        }
        return found;
    }

    @Override
    public void copyToLocalFile(boolean delete, Path from, Path to, boolean raw)
            throws IOException {
        fs.copyToLocalFile(delete, local(from), to, raw);
    }

    @Override
    public long getDefaultBlockSize(Path path) {
        return 1 << 20;
    }
}
