<?xml version="1.0" encoding="UTF-8"?>
<!-- message.xsl - a heading and a sentence. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:import href="page.xsl"/>
<xsl:template name="title"><xsl:value-of select="/message/title"/></xsl:template>
<xsl:template name="content">
<p><xsl:value-of select="/message/text"/></p>
</xsl:template>
</xsl:stylesheet>
